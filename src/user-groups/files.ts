import { pipeline, Readable } from 'node:stream';
import { didYouMean } from '@user-group-gateway/docs-config';
import { CsvError, parse } from 'csv-parse';
import { stringify } from 'csv-stringify/sync';
import type { Database } from '../database/client.ts';
import { decryptToken, type KeyRing } from '../encryption/keys.ts';
import { boundIssues, describeIssues, GatewayError, type Issue, maxIssues, shorten } from '../errors.ts';
import type { EnvironmentTag } from '../generated/prisma/client.ts';
import { newTextIssues } from '../input.ts';
import { parseJson } from '../json.ts';
import { escapeJson } from '../terminal-text.ts';
import { tokenPrefixes } from '../token-prefixes.ts';
import { mayBeUserGroupToken, redactTokens } from '../tokens.ts';
import { givenAttributes, givenOf, memberPath, type UserGroupFields } from './attributes.ts';
import { getOrCreateIssues } from './user-groups.ts';

/** The limits of the files that `groups import` reads. */
export const importLimits = {
  /** The characters of a line, or of a CSV record, which may span lines. Every exported group fits. */
  maxLineLength: 4_194_304,
  /** The rejected lines that are printed. */
  maxPrintedRejections: 100,
} as const;

/** The formats of files. */
export const fileFormats = ['ndjson', 'csv'] as const;

/** The name of a format. */
export type FileFormat = (typeof fileFormats)[number];

/** The fields of a line, in the order in which files have them. */
export const fileFields: readonly string[] = [
  'user_group_id',
  'name',
  'token',
  ...givenAttributes.map(([, { member }]) => member).filter((member) => member !== 'name'),
  'status',
  'suspended_reason',
  'environment',
];

const jsonFields: ReadonlySet<string> = new Set(
  givenAttributes.flatMap(([, { type, member }]) => (type === 'json' ? [member] : [])),
);

/** The fields that an existing group cannot be without. */
const neverNull = ['token', ...givenAttributes.flatMap(([, { member, nullable }]) => (nullable ? [] : [member]))];

const environments: ReadonlyMap<unknown, EnvironmentTag | null> = new Map<unknown, EnvironmentTag | null>([
  ['Customer', 'Customer'],
  ['Testing', 'Testing'],
  ['none', null],
  [null, null],
]);

/** How files name an environment; `none` stands for untagged. */
export const environmentName = (tag: EnvironmentTag | null): string => tag ?? 'none';

/** A user group from a file, every rule checked that needs no database. */
export interface ImportLine {
  readonly line: number;
  /** About how many characters it has in the file. */
  readonly length: number;
  readonly providedId: string;
  readonly environmentTag: EnvironmentTag | null;
  /** The token that the group keeps; without one, a new group gets a new token. */
  readonly token: string | undefined;
  readonly suspended: boolean;
  readonly suspendedReason: string | null | undefined;
  readonly given: UserGroupFields;
  /** The fields that are null, though an existing group cannot be without them. */
  readonly nulls: readonly string[];
}

/** A line that is not imported, and why, without any token. */
export interface RejectedLine {
  readonly line: number;
  readonly reason: string;
}

/** A line as it was read. */
interface RawLine {
  readonly line: number;
  readonly length: number;
  /** The fields, or why there are none. */
  readonly fields: Readonly<Record<string, unknown>> | string;
}

/**
 * Reads and checks the lines of a file, with bounded memory.
 *
 * @param environment the environment of lines that name none; a line that names another one is rejected. `null` means untagged.
 * @throws Error when the file as a whole is not one to import, before the first line, or when the rest cannot be read.
 */
export async function* readGroups(
  chunks: AsyncIterable<Uint8Array>,
  format: FileFormat,
  environment: EnvironmentTag | null | undefined,
): AsyncGenerator<ImportLine | RejectedLine> {
  const text = decode(chunks);
  const lines = format === 'csv' ? csvLines(text, environment !== undefined) : jsonLines(text);
  for await (const raw of lines) yield checkLine(raw, environment);
}

async function* decode(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true }); // which skips a byte order mark
  try {
    for await (const chunk of chunks) yield decoder.decode(chunk, { stream: true });
    yield decoder.decode();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_ENCODING_INVALID_ENCODED_DATA') throw error;
    throw new Error('The file is not text in UTF-8. Unpack it if it is compressed, and save it as UTF-8.');
  }
}

const tooLong = (line: number): Error =>
  new Error(`Line ${line} has more than ${importLimits.maxLineLength} characters. In CSV, close every quote.`);

async function* jsonLines(text: AsyncIterable<string>): AsyncGenerator<RawLine> {
  let line = 0;
  let isFirst = true;
  const read = (content: string): RawLine[] => {
    line += 1;
    if (content.trim() === '') return [];
    const fields = readObject(content);
    if (isFirst) assertNdjson(content, fields);
    isFirst = false;
    const unknown = typeof fields === 'string' ? undefined : unknownField('member', Object.keys(fields));
    return [{ line, length: content.length, fields: unknown ?? fields }];
  };
  let rest = '';
  for await (const part of text) {
    const lines = (rest + part).split('\n');
    rest = lines.pop() ?? '';
    for (const each of lines) yield* read(each);
    if (rest.length > importLimits.maxLineLength) throw tooLong(line + 1);
  }
  yield* read(rest);
}

const notAnObject = 'must be a JSON object.';
const notJson = 'is not valid JSON.';

function readObject(text: string): RawLine['fields'] {
  const value = readJson(text);
  if ('problem' in value) return value.problem;
  const { json } = value;
  return typeof json === 'object' && json !== null && !Array.isArray(json) ? (json as object as RawLine['fields']) : notAnObject;
}

/** JSON, or why it is none. The text is not repeated: it may have a token. */
function readJson(text: string): { readonly json: unknown } | { readonly problem: string } {
  try {
    return { json: parseJson(text, 'The JSON') };
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    const isSafe = error.code === 'INVALID_INPUT' || error.message.startsWith('The JSON has the duplicate member');
    return { problem: isSafe ? redactTokens(error.message) : notJson };
  }
}

/** @throws Error when the first line is not one of NDJSON. */
function assertNdjson(text: string, fields: RawLine['fields']): void {
  if (text.trimStart().startsWith('['))
    throw new Error('The file is a JSON array. Write one object a line, as `jq -c ".[]"` does.');
  if (fields === notJson || fields === notAnObject)
    throw new Error(
      'The first line is not a JSON object. Write each object on one line, as `jq -c .` does, or import CSV with --format csv.',
    );
  const unknown = typeof fields === 'string' ? undefined : unknownField('member', Object.keys(fields));
  if (unknown !== undefined) throw new Error(`The first line has an ${unknown}`);
}

/** Why names are not all those of fields. */
function unknownField(kind: 'column' | 'member', names: readonly string[]): string | undefined {
  const unknown = names.find((name) => !fileFields.includes(name));
  if (unknown === undefined) return undefined;
  const meant = didYouMean(unknown, fileFields);
  const suggestion = meant === undefined ? '' : ` Did you mean ${meant}?`;
  return `unknown ${kind} "${shorten(redactTokens(unknown))}"; the ${kind}s are: ${fileFields.join(', ')}.${suggestion}`;
}

async function* csvLines(text: AsyncIterable<string>, hasEnvironment: boolean): AsyncGenerator<RawLine> {
  const parser = parse({
    info: true,
    skip_empty_lines: true,
    relax_column_count: true, // such a record is rejected, and the others are read
    record_delimiter: ['\r\n', '\n'],
    max_record_size: importLimits.maxLineLength,
  });
  pipeline(Readable.from(text), parser, () => {}); // the parser has the error
  let columns: readonly string[] | undefined;
  try {
    for await (const { record, info } of parser as AsyncIterable<{ record: string[]; info: { lines: number } }>) {
      if (columns) yield { line: info.lines, length: record.join().length, fields: fieldsOf(columns, record) };
      else {
        assertHeader(record, hasEnvironment);
        columns = record;
      }
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const line = Number(error['lines']);
    if (error.code === 'CSV_MAX_RECORD_SIZE') throw tooLong(line);
    throw new Error(
      `Line ${line} is not valid CSV. Put a field with a quote, a comma or a line break in quotes, write each quote in it twice, and close it.`,
    );
  }
  if (!columns) throw new Error('The file is empty. The first line must name the columns.');
}

/** @throws Error when the columns are not those of a file to import. Repeats no cell of a file that has no header. */
function assertHeader(columns: readonly string[], hasEnvironment: boolean): void {
  if (!columns.includes('user_group_id')) {
    const known = `The columns are: ${fileFields.join(', ')}.`;
    throw new Error(`The first line must name the columns, separated by commas, and one of them must be user_group_id. ${known}`);
  }
  const unknown = unknownField('column', columns);
  if (unknown !== undefined) throw new Error(`The first line has an ${unknown}`);
  const twice = columns.find((name, index) => columns.indexOf(name) < index);
  if (twice !== undefined) throw new Error(`The first line names the column "${twice}" twice.`);
  if (!hasEnvironment && !columns.includes('environment'))
    throw new Error('The file has no column environment. Add it, or --environment Customer, Testing or none (untagged).');
}

/** An empty cell counts as missing, because spreadsheets write nothing else. */
function fieldsOf(columns: readonly string[], cells: readonly string[]): RawLine['fields'] {
  if (cells.length !== columns.length) return `has ${cells.length} cells, and the first line names ${columns.length} columns.`;
  const fields: Record<string, unknown> = {};
  for (const [index, name] of columns.entries()) {
    const cell = cells[index] as string;
    if (cell === '') continue;
    const value = jsonFields.has(name) ? readJson(cell) : { json: cell };
    if ('problem' in value) return `${name}: ${value.problem}`;
    fields[name] = value.json;
  }
  return fields;
}

/** Checks a line by the rules of get-or-create, and its token, environment and status. */
function checkLine({ line, length, fields }: RawLine, environment: EnvironmentTag | null | undefined): ImportLine | RejectedLine {
  if (typeof fields === 'string') return { line, reason: fields };
  const { user_group_id: providedId, token, status, suspended_reason: suspendedReason, mapping } = fields;
  const given = givenOf(fields);
  const issues: Issue[] = [];
  for (const issue of getOrCreateIssues({ providedId, ...given })) if (issues.push(issue) === maxIssues) break;
  issues.push(...tokenIssues(token), ...statusIssues(status, suspendedReason), ...environmentIssues(fields, environment));
  if (issues.length > 0) {
    const named = issues.map(({ path, message }) => ({ path: memberPath(path, mapping), message }));
    return { line, reason: describeIssues(boundIssues(named)) };
  }
  return {
    line,
    length,
    providedId: providedId as string,
    environmentTag: Object.hasOwn(fields, 'environment')
      ? (environments.get(fields['environment']) as EnvironmentTag | null)
      : (environment as EnvironmentTag | null),
    token: (token ?? undefined) as string | undefined,
    suspended: status === 'suspended',
    suspendedReason: suspendedReason as string | null | undefined,
    given,
    nulls: neverNull.filter((field) => fields[field] === null),
  };
}

function tokenIssues(token: unknown): Issue[] {
  if (token == null || (typeof token === 'string' && mayBeUserGroupToken(token))) return [];
  const message =
    typeof token === 'string' && token.startsWith(tokenPrefixes.userGroup)
      ? `begins with ${tokenPrefixes.userGroup} and is mistyped or truncated: its checksum does not match.`
      : 'must be a string of 16 to 255 printable characters.';
  return [{ path: ['token'], message }];
}

function statusIssues(status: unknown, reason: unknown): Issue[] {
  const path = ['suspended_reason'];
  if (status != null && status !== 'active' && status !== 'suspended')
    return [{ path: ['status'], message: 'must be active or suspended.' }];
  if (reason == null) return [];
  if (status !== 'suspended') return [{ path, message: 'must not be given unless the status is suspended.' }];
  return newTextIssues(path, reason);
}

function environmentIssues(fields: Readonly<Record<string, unknown>>, expected: EnvironmentTag | null | undefined): Issue[] {
  const issue = (message: string): Issue[] => [{ path: ['environment'], message }];
  if (!Object.hasOwn(fields, 'environment')) {
    return expected === undefined ? issue('is required: Customer, Testing or none (untagged). Add it, or --environment.') : [];
  }
  const named = environments.get(fields['environment']);
  if (named === undefined) return issue('must be Customer, Testing or none.');
  if (expected === undefined || named === expected) return [];
  return issue(`is ${environmentName(named)}, not ${environmentName(expected)} as --environment says.`);
}

/** The values of a group by the fields of files; JSON is the stored text. */
type FileRecord = Readonly<Record<string, string | null>>;

/** How many groups are read at once: 4 MiB if each has the most JSON. */
const pageRows = 32;

/**
 * The text of a file with all groups, or those of one environment, as they are at one moment, in pages, in the order of creation.
 *
 * @param environment `null` means untagged; undefined means every environment.
 * @throws DecryptionError when a key is missing or a row was changed.
 */
export async function* exportGroups(
  { openConnection }: Database,
  keys: KeyRing,
  format: FileFormat,
  environment: EnvironmentTag | null | undefined,
): AsyncGenerator<{ readonly text: string; readonly count: number }> {
  const client = await openConnection();
  try {
    await client.query(beginSnapshot);
    await client.query(declareCursor, [environment === undefined, environment ?? null]);
    if (format === 'csv') yield { text: toCsv([fileFields]), count: 0 };
    while (true) {
      const { rows } = await client.query(`fetch ${pageRows} from exported`);
      if (rows.length === 0) return;
      const records = rows.map((row): FileRecord => ({ ...row, token: decryptToken(keys, 'user_group', row) }));
      yield { text: format === 'csv' ? toCsv(records.map(toCells)) : records.map(toJson).join(''), count: rows.length };
    }
  } finally {
    await client.end();
  }
}

/** The reader of the output may pause for longer than the server lets a transaction be idle. */
const beginSnapshot = `
  begin isolation level repeatable read read only;
  set local idle_in_transaction_session_timeout = 0; set local statement_timeout = 0; set local row_security = off`;

const declareCursor = `
  declare exported no scroll cursor for
  select provided_id as user_group_id, token_hash as "tokenHash", token_encrypted as "tokenEncrypted",
    ${givenAttributes.map(([, { sql, member }]) => `${sql}::text as "${member}"`).join(', ')},
    case when suspended then 'suspended' else 'active' end as status, suspended_reason,
    coalesce(environment_tag::text, '${environmentName(null)}') as environment
  from user_group where $1 or environment_tag is not distinct from $2::environment_tag order by team_id`;

/** Line breaks stand between the tokens of JSON only, and only if something else wrote it. */
const jsonText = (json: string | null | undefined): string => json?.replace(/[\r\n]+/g, ' ') ?? 'null';

const toJson = (record: FileRecord): string => {
  const members = fileFields.map((field) => {
    const value = record[field];
    return `"${field}":${escapeJson(jsonFields.has(field) ? jsonText(value) : JSON.stringify(value))}`;
  });
  return `{${members.join(',')}}\n`;
};

const toCells = (record: FileRecord): string[] =>
  fileFields.map((field) => (jsonFields.has(field) ? jsonText(record[field]) : (record[field] ?? '')));

const toCsv = (rows: readonly (readonly string[])[]): string =>
  stringify(rows as string[][], { record_delimiter: 'windows', quoted_match: /[\r\n]/ });
