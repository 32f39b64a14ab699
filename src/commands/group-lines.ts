import type { ReadLine } from '../domain/user-group-import.ts';
import { checkImportLine, printable } from '../domain/user-group-import-line.ts';
import type { EnvironmentTag } from '../generated/prisma/client.ts';
import { type FormatName, groupFormats } from './group-formats.ts';
import { readRecords, type SourceRecord } from './group-records.ts';

/** How to read a file of user groups. */
export interface ReadOptions {
  readonly format: FormatName;
  /** The environment of lines that name none, as {@link checkImportLine} takes it. */
  readonly environment: EnvironmentTag | null | undefined;
  /** Receives the names of fields that groups do not have, each once, safe to print; undefined once, if there are too many. */
  readonly onIgnored: (name: string | undefined) => void;
}

/** Why a line cannot be parsed, without the numbers in it and the name, which is in quotes. */
function withoutValues(problem: string): string {
  const [before = '', ...others] = problem.replace(/\d+/g, 'N').split('"');
  return others.length > 0 ? `${before}"…"${others.at(-1)}` : before;
}

/**
 * Reads and checks the lines of a file, those of each chunk, as fast as they are taken.
 *
 * @throws Error when the file as a whole cannot be read: its encoding, or the columns of CSV.
 */
export async function* readGroupLines(
  chunks: AsyncIterable<Buffer>,
  { format, environment, onIgnored }: ReadOptions,
): AsyncGenerator<readonly ReadLine[]> {
  const { boundaries, createParser } = groupFormats[format];
  const parse = createParser(onIgnored);
  const toLine = ({ line, lastLine, bytes, text, problem }: SourceRecord): readonly ReadLine[] => {
    const parsed = text === undefined ? { problem: problem ?? '' } : parse(text);
    if (!parsed) return [];
    if (!('problem' in parsed)) return [{ read: checkImportLine(line, parsed.fields, environment), bytes }];
    // A quote that is not closed takes lines that are not rejected one by one.
    const span = lastLine > line ? ` It was read as one record up to line ${lastLine}.` : '';
    const reason = printable(parsed.problem) + span;
    return [{ read: { line, reason, kind: withoutValues(parsed.problem) }, bytes }];
  };
  for await (const records of readRecords(chunks, boundaries())) yield records.flatMap(toLine);
}
