import type { Readable, Writable } from 'node:stream';
import type { EnvironmentTag } from '../generated/prisma/client.ts';
import { type FormatName, formatOf, groupFormats } from '../user-groups/files/formats.ts';
import { importFields, importLimits } from '../user-groups/import-lines.ts';
import { type EnvironmentName, environmentChoices, isEnvironmentName } from './ask-environment.ts';
import { type OptionKind, type ReadOptions, readOptions, UsageError } from './options.ts';
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
  --environment  the environment of lines that name none (default: none, which means untagged); lines that name another are rejected
  --on-existing  what to do with a group that exists: skip leaves it as it is (default), update changes the fields that are given,
                 fail rejects the line
  --dry-run      only check every line
  --report       write all rejected lines to FILE, one JSON object a line with line and reason; a file that exists is replaced

export writes all groups, or those of one environment, to standard output or a file, as import takes them back.
It contains tokens: a file gets the mode 0600.
  --format       by default, that of the file name, or ndjson

Exit status: 0 done, 1 lines were rejected or it failed, 2 the arguments are invalid or a file cannot be opened,
129, 130 or 143 stopped by SIGHUP, SIGINT or SIGTERM.
`;

/** The streams of `groups`: for input, for the result, and for progress. */
export interface GroupsIo {
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly stderr: Writable & { readonly isTTY?: boolean; readonly columns?: number };
}

/** The arguments of a command, with every problem that was found so far. */
export interface GroupsArguments extends ReadOptions {
  readonly problems: string[];
}

/** Reads the options of a command; `-` is a word. */
export function readArguments(args: readonly string[], kinds: Readonly<Record<string, OptionKind>>): GroupsArguments {
  const { problems, ...read } = readOptions(args, kinds);
  return { ...read, problems: [...problems] };
}

/** The value of an option that takes one of a few; undefined when it was not given, or is not valid. */
export function choice<Name extends string>(
  { given, problems }: GroupsArguments,
  option: string,
  names: readonly Name[],
): Name | undefined {
  const [value] = given.get(option) ?? [];
  if (value === undefined) return undefined;
  const found = names.find((name) => name === value);
  if (!found)
    problems.push(`--${option} must be ${names.slice(0, -1).join(', ')} or ${names.at(-1)}, not ${JSON.stringify(value)}.`);
  return found;
}

/** The path of a file that was given; undefined when it was not, or is empty. */
export function fileOf({ given, problems }: GroupsArguments, option: string): string | undefined {
  const [path] = given.get(option) ?? [];
  if (path === '') problems.push(`--${option} must name a file.`);
  return path || undefined;
}

/** The environment that was given; `null` means untagged, undefined that none was given. */
export function environmentOf({ given, problems }: GroupsArguments): EnvironmentTag | null | undefined {
  const [name] = given.get('environment') ?? [];
  if (name === undefined) return undefined;
  if (isEnvironmentName(name)) return tagOf(name);
  problems.push(`--environment must be ${environmentChoices}, not ${JSON.stringify(name)}.`);
  return undefined;
}

const tagOf = (name: EnvironmentName): EnvironmentTag | null => (name === 'none' ? null : name);

/** The format that was given, or that of the file's name. @param standard the format without a file. */
export function formatFrom(read: GroupsArguments, file: string | undefined, standard: FormatName): FormatName {
  const given = choice(read, 'format', Object.keys(groupFormats) as FormatName[]);
  const format = given ?? (file === undefined ? standard : formatOf(file));
  if (format) return format;
  if (!read.given.has('format')) {
    read.problems.push(`--format is required: ${JSON.stringify(file)} does not end with .ndjson, .jsonl or .csv.`);
  }
  return standard;
}

/** @throws UsageError when there is any problem. */
export function assertValid({ problems }: GroupsArguments, command: string): void {
  if (problems.length === 0) return;
  throw new UsageError(
    `Invalid arguments for ${command}; nothing was done.\n${problems.map((line) => `  ${line}\n`).join('')}\n${groupsHelp}`,
  );
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
    const remedy = 'Choose a folder that exists and is writable.';
    throw new UsageError(`${path} cannot be written: ${(error as Error).message}. ${outcome} ${remedy}`);
  }
}
