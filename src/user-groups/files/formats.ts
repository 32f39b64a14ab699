import { GatewayError } from '../../errors.ts';
import type { EnvironmentTag } from '../../generated/prisma/client.ts';
import { parseJson } from '../../json.ts';
import { escapeJson } from '../../terminal-text.ts';
import { givenAttributes } from '../attribute-values.ts';
import type { ReadLine } from '../import.ts';
import {
  checkImportLine,
  environmentName,
  importFields,
  importLimits,
  importNames,
  printable,
  printableName,
  type UncheckedLine,
} from '../import-lines.ts';
import type { ExportedGroup } from '../statements/export.ts';
import {
  csvBoundaries,
  lineBoundaries,
  parseCsvRecord,
  type RecordBoundaries,
  readRecords,
  type SourceRecord,
  toCsvRecord,
} from './records.ts';

/** The fields of a record, or why it has none. */
export type ParsedRecord = { readonly fields: UncheckedLine } | { readonly problem: string };

type OnIgnored = (name: string | undefined) => void;

/** How files have user groups. */
export interface GroupFormat {
  readonly boundaries: () => RecordBoundaries;
  /**
   * Creates the parser of a file. It returns undefined for a record that has no group: the first one of CSV.
   *
   * @param onIgnored receives the names of fields that groups do not have, each once, safe to print; undefined once, if there are
   *   too many.
   */
  readonly createParser: (onIgnored: OnIgnored) => (text: string) => ParsedRecord | undefined;
  /** What a file begins with. */
  readonly header: string;
  /** A group as a record, with what ends it. */
  readonly write: (group: ExportedGroup) => string;
}

const known: ReadonlySet<string> = new Set(importNames);

/** The most names of ignored fields that are kept. */
const maxIgnored = 20;

function reportOnce(onIgnored: OnIgnored): (name: string) => void {
  const seen = new Set<string>();
  return (name) => {
    if (known.has(name) || seen.size > maxIgnored) return;
    const shown = printableName(name);
    if (seen.has(shown)) return;
    seen.add(shown);
    onIgnored(seen.size > maxIgnored ? undefined : shown);
  };
}

/** JSON, or why it is none. The text itself is not repeated: it may have a token. */
function readJson(text: string): { readonly value: unknown } | { readonly problem: string } {
  try {
    return { value: parseJson(text, 'The JSON') };
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    const { message } = error;
    const isOwn = message.includes('duplicate member') || error.code === 'INVALID_INPUT';
    return { problem: isOwn ? message : 'is not valid JSON.' };
  }
}

interface FileField {
  readonly name: keyof ExportedGroup;
  readonly isJson: boolean;
}

/** What each field of a file has, by any of its names. */
const fileFields: ReadonlyMap<string, FileField> = new Map<string, FileField>([
  ['user_group_id', { name: 'providedId', isJson: false }],
  ['token', { name: 'token', isJson: false }],
  ['environment', { name: 'environmentTag', isJson: false }],
  ['status', { name: 'status', isJson: false }],
  ['suspended_reason', { name: 'suspendedReason', isJson: false }],
  ...givenAttributes.flatMap(([name, { member, type }]) =>
    [name, member].map((each): [string, FileField] => [each, { name, isJson: type === 'json' }]),
  ),
]);

/** JSON without line breaks. They stand between its tokens only, and only in what was not written by the gateway. */
const inOneLine = (json: string | null): string | null =>
  json !== null && /[\r\n]/.test(json) ? json.replace(/[\r\n]+/g, ' ') : json;

/** The values of a group in the order of {@link importFields}. */
const valuesOf = (group: ExportedGroup): { readonly value: string | null; readonly isJson: boolean }[] =>
  importFields.map((field) => {
    const { name, isJson } = fileFields.get(field) as FileField;
    return { value: isJson ? inOneLine(group[name]) : group[name], isJson };
  });

/** One JSON object a line. */
const ndjson: GroupFormat = {
  boundaries: lineBoundaries,
  createParser: (onIgnored) => {
    const report = reportOnce(onIgnored);
    return (text) => {
      const read = readJson(text);
      if ('problem' in read) return read;
      const { value } = read;
      if (typeof value !== 'object' || value === null || Array.isArray(value)) return { problem: 'must be a JSON object.' };
      for (const name of Object.keys(value)) report(name);
      return { fields: value as UncheckedLine };
    };
  },
  header: '',
  write: (group) => {
    const values = valuesOf(group).map(({ value, isJson }) => (isJson ? (value ?? 'null') : JSON.stringify(value)));
    return `{${importFields.map((field, index) => `"${field}":${escapeJson(values[index] as string)}`).join(',')}}\n`;
  },
};

/** Of a file that was joined from several: what follows may have its columns in another order. */
const repeatedHeader = 'names a column, as the first line does. Import files that were joined one by one.';

/** The names of the column that every file has. */
const idColumns: readonly string[] = ['user_group_id', 'providedId'];

/** CSV as RFC 4180 has it, with a first record that names the columns. An empty cell counts as missing. */
const csv: GroupFormat = {
  boundaries: csvBoundaries,
  createParser: (onIgnored) => {
    let columns: readonly string[] | undefined;
    return (text) => {
      const { fields, problem } = parseCsvRecord(text, columns?.length ?? importLimits.maxColumns);
      if (columns === undefined) {
        if (problem) throw new Error(`The first line must name the columns: it ${problem}`);
        columns = readHeader(fields, reportOnce(onIgnored));
        return undefined;
      }
      if (problem) return { problem };
      if (fields.some((field) => idColumns.includes(field.replace(/^\ufeff/, '')))) return { problem: repeatedHeader };
      return fields.length === columns.length
        ? toFields(columns, fields)
        : { problem: `has ${fields.length} fields, and the first line names ${columns.length} columns.` };
    };
  },
  header: toCsvRecord(importFields),
  write: (group) => {
    const cells = valuesOf(group).map(({ value, isJson }) => value ?? (isJson ? 'null' : ''));
    return toCsvRecord([...cells.slice(0, -1), environmentName(group.environmentTag)]);
  },
};

/** The formats by the names that `--format` takes. */
export const groupFormats = { ndjson, csv } as const;

/** The name of a format. */
export type FormatName = keyof typeof groupFormats;

/** The format that the name of a file stands for. */
export function formatOf(file: string): FormatName | undefined {
  const [, extension = ''] = /\.(\w+)$/.exec(file.toLowerCase()) ?? [];
  if (extension === 'csv') return 'csv';
  return extension === 'ndjson' || extension === 'jsonl' ? 'ndjson' : undefined;
}

/** @throws Error when the names are not those of a file that can be imported. */
function readHeader(columns: readonly string[], report: (name: string) => void): readonly string[] {
  const repeated = columns.find((name, index) => columns.indexOf(name) < index);
  if (repeated !== undefined) throw new Error(`The first line names the column "${printableName(repeated)}" twice.`);
  if (!idColumns.some((name) => columns.includes(name))) {
    throw new Error(
      `The first line must name the columns, separated by commas, and one of them must be user_group_id or providedId. Known columns: ${importNames.join(', ')}.`,
    );
  }
  for (const name of columns) report(name);
  return columns;
}

function toFields(columns: readonly string[], cells: readonly string[]): ParsedRecord {
  const fields: Record<string, unknown> = {};
  for (const [index, name] of columns.entries()) {
    const cell = cells[index] as string;
    if (!known.has(name) || cell === '') continue;
    if (!fileFields.get(name)?.isJson) {
      fields[name] = cell;
      continue;
    }
    const read = readJson(cell);
    if ('problem' in read) return { problem: `${name}: ${read.problem}` };
    fields[name] = read.value;
  }
  return { fields };
}

/** How to read a file of user groups. */
export interface ReadOptions {
  readonly format: FormatName;
  /** The environment of lines that name none, as {@link checkImportLine} takes it. */
  readonly environment: EnvironmentTag | null | undefined;
  /** Receives the names of fields that groups do not have, each once, safe to print; undefined once, if there are too many. */
  readonly onIgnored: (name: string | undefined) => void;
  /** Receives the line of a last record of CSV that has no line break: a part of it may be missing, which would show in JSON. */
  readonly onOpenEnd?: (line: number) => void;
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
  { format, environment, onIgnored, onOpenEnd }: ReadOptions,
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
  let isEmpty = true;
  for await (const records of readRecords(chunks, boundaries())) {
    isEmpty &&= records.length === 0;
    const last = records.at(-1);
    if (format === 'csv' && last?.isEnded === false) onOpenEnd?.(last.line);
    yield records.flatMap(toLine);
  }
  if (isEmpty && format === 'csv') parse(''); // fails, because it names no columns
}
