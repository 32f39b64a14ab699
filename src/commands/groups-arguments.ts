import { type FormatName, formatOf, groupFormats } from '../user-groups/files/formats.ts';
import { importFields, importLimits } from '../user-groups/import-lines.ts';
import { choice, type ReadOptions, UsageError } from './options.ts';
import { type FileDraft, openDraft } from './replace-file.ts';

/** What `groups --help` prints. */
export const groupsHelp = `Usage:
  user-group-gateway groups import FILE [--format ndjson|csv] [--environment Customer|Testing|none]
                                        [--on-existing skip|update|fail] [--dry-run] [--report FILE]
  user-group-gateway groups export [--format ndjson|csv] [--environment Customer|Testing|none] [--output FILE]

import reads user groups from FILE, or from standard input for -: one JSON object a line, or CSV whose first line names the columns.
Fields: ${importFields.join(', ')}. A group keeps the token that is given, and gets a new one otherwise.
The names of the GraphQL schema are accepted, too: providedId for user_group_id, environmentTag for environment.
It prints the first ${importLimits.maxPrintedRejections} rejected lines with number and reason, counts all of them by reason, and imports all other lines. It may be
interrupted and run again.
  --format       by default, that of the file name: .ndjson, .jsonl or .csv; of standard input, ndjson
  --environment  the environment of lines that name none (default: none, which means untagged); with the option,
                 lines that name another are rejected
  --on-existing  what to do with a group that exists: skip leaves it as it is (default), update changes the fields that are given,
                 fail rejects the line
  --dry-run      only check every line
  --report       write all rejected lines to FILE, one JSON object a line with line and reason; a file that exists is replaced

export writes all groups, or those of one environment, to standard output or a file, as import takes them back.
It contains tokens: a file gets the mode 0600.
  --format       by default, that of the file name, or ndjson
  --output       the file; without it, or for -, standard output

Exit status: 0 done, 1 lines were rejected or it failed, 2 the arguments are invalid or a file cannot be opened,
129, 130 or 143 stopped by SIGHUP, SIGINT or SIGTERM.
`;

/** The path of a file that was given; undefined when it was not, or is none. */
export function fileOf({ given, problems }: ReadOptions, option: string): string | undefined {
  const [path] = given.get(option) ?? [];
  if (path === '') problems.push(`--${option} must name a file.`);
  if (path === '-') problems.push(`--${option} must name a file: ./- for one with the name -.`);
  return path || undefined;
}

/** The format that was given, or that of the file's name; without a file, NDJSON. */
export function formatFrom(read: ReadOptions, file: string | undefined): FormatName {
  const given = choice(read, 'format', Object.keys(groupFormats) as FormatName[]);
  const format = given ?? (file === undefined ? 'ndjson' : formatOf(file));
  if (format) return format;
  if (!read.given.has('format')) {
    read.problems.push(`--format is required: ${JSON.stringify(file)} does not end with .ndjson, .jsonl or .csv.`);
  }
  return 'ndjson';
}

/**
 * Begins to write a file that was given, which only its owner may read.
 *
 * @param outcome a sentence for the message: what has not happened.
 * @throws UsageError when it cannot be written.
 */
export async function openOutput(path: string, outcome: string): Promise<FileDraft> {
  try {
    return await openDraft(path, 0o600);
  } catch (error) {
    const remedy = 'Choose another file, in a folder that exists and is writable.';
    throw new UsageError(`${path} cannot be written: ${(error as Error).message}. ${outcome} ${remedy}`);
  }
}
