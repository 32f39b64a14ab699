// Makes the user groups what a file of customers says: creates those that are missing, and updates those that differ. Groups that
// the file does not have stay as they are. May be run again at any time.
import { readFile } from 'node:fs/promises';
import { parse } from 'csv-parse/sync';
import { ConflictError, InvalidInputError, UserGroupGateway } from 'user-group-gateway-client';

const { GATEWAY = 'http://127.0.0.1:4000', API_TOKEN } = process.env;
const [file = 'customers.csv'] = process.argv.slice(2);
const concurrency = 8;
const requiredColumns = ['id', 'name'];
/** Those that become properties of the groups. A file may leave some of them out. */
const propertyColumns = ['plan', 'region'];

const gateway = new UserGroupGateway({ url: GATEWAY, apiToken: API_TOKEN });

// Rejects what is not UTF-8, instead of storing wrong characters, and removes a byte order mark.
const text = new TextDecoder('utf-8', { fatal: true }).decode(await readFile(file));
// The parser checks no columns where there is no line.
if (text.trim() === '') checkColumns([]);
const rows = parse(text, {
  columns: checkColumns,
  skip_empty_lines: true,
  info: true,
  // Of each line: by default that of the first one.
  record_delimiter: ['\r\n', '\n', '\r'],
});

/** Text of a file without what controls a terminal, or changes the direction of text. */
function printable(text) {
  return text.replace(/[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/gu, '\ufffd');
}

/** Returns the names of the columns. @throws Error when one is missing, unknown or repeated: a misspelled one would be lost. */
function checkColumns(names) {
  const problems = [
    ...requiredColumns.filter((name) => !names.includes(name)).map((name) => `has no column "${name}"`),
    ...names
      .filter((name) => ![...requiredColumns, ...propertyColumns].includes(name))
      .map((name) => `has an unknown column "${name}"`),
    ...names.filter((name, index) => names.indexOf(name) < index).map((name) => `has the column "${name}" twice`),
  ];
  if (problems.length > 0) throw new Error(printable(`${file} ${problems.join(', ')}. Nothing was sent.`));
  return names;
}

const counts = { created: 0, updated: 0, unchanged: 0, failed: 0 };
const ids = new Set();

/** Creates or updates a group. @returns what it did. @throws Error when that is not possible. */
async function sync({ id, name, ...columns }) {
  if (!id) throw new InvalidInputError('INVALID_INPUT', 'The column id is empty.');
  if (ids.has(id)) throw new ConflictError('CONFLICT', 'An earlier line has the same id.');
  ids.add(id);
  // Every other column is a property; an empty cell is none.
  const entries = Object.entries(columns);
  const properties = Object.fromEntries(entries.filter(([, value]) => value !== ''));
  // Without a name, a new group is named like its id, and another one keeps its name.
  const named = name === '' ? {} : { name };
  const { userGroup, created } = await gateway.userGroups.getOrCreate({ providedId: id, ...named, properties });
  if (created) return 'created';
  const isSame = entries.every(([key, value]) => (userGroup.properties?.[key] ?? '') === value);
  if (isSame && userGroup.name === (name || userGroup.name)) return 'unchanged';
  // Properties that the file has no column for are kept; null removes one.
  const mergeProperties = Object.fromEntries(entries.map(([key, value]) => [key, value === '' ? null : value]));
  await gateway.userGroups.update({ by: { providedId: id }, ...named, mergeProperties });
  return 'updated';
}

// Shared by the workers: each takes the next row.
const queue = rows.values();

async function work() {
  for (const { record, info } of queue) {
    try {
      counts[await sync(record)] += 1;
    } catch (error) {
      // Any other error concerns every row: the gateway cannot be reached, or the API token lacks a scope.
      if (!(error instanceof InvalidInputError || error instanceof ConflictError)) throw error;
      counts.failed += 1;
      console.error(printable(`${file}:${info.lines}: ${record.id}: ${error.message}`));
    }
  }
}

// All of them end first: what one still does counts, also after another has failed.
const ended = await Promise.allSettled(Array.from({ length: concurrency }, work));
console.log(
  Object.entries(counts)
    .map(([what, count]) => `${count} ${what}`)
    .join(', '),
);
const failure = ended.find(({ status }) => status === 'rejected');
if (failure) throw failure.reason;
process.exitCode = counts.failed > 0 ? 1 : 0;
