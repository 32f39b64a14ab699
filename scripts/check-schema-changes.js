// Checks that schema.graphql keeps what callers of the last release rely on: each breaking change since schema.released.graphql
// has to be declared, with its reason, in schema.breaking.json. With --release, the present schema becomes the released one.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { buildSchema, findBreakingChanges } from 'graphql';

const { values } = parseArgs({ options: { release: { type: 'boolean' }, folder: { type: 'string' } } });
const folder = values.folder ?? fileURLToPath(new URL('..', import.meta.url));
const path = (name) => join(folder, name);
const read = (name) => readFileSync(path(name), 'utf8');

const current = read('schema.graphql');
if (values.release) {
  writeFileSync(path('schema.released.graphql'), current);
  writeFileSync(path('schema.breaking.json'), '{}\n');
} else {
  const changes = findBreakingChanges(buildSchema(read('schema.released.graphql')), buildSchema(current));
  const found = new Set(changes.map(({ type, description }) => `${type}: ${description}`));
  const declared = JSON.parse(read('schema.breaking.json'));
  const isReason = (reason) => typeof reason === 'string' && reason.trim() !== '';
  const problems = [
    ...[...found].filter((change) => !isReason(declared[change])).map((change) => `breaking, not declared: ${change}`),
    ...Object.keys(declared)
      .filter((change) => !found.has(change))
      .map((change) => `declared, but not the case: ${change}`),
  ];
  if (problems.length > 0) {
    const remedy =
      'Keep what was removed, deprecated and with its successor named; or declare the change with its reason in schema.breaking.json:';
    process.stdout.write(`${problems.join('\n')}\n`);
    process.stderr.write(`${remedy}\n  {"TYPE: description as above": "why callers have to change, and how"}\n`);
    process.exitCode = 1;
  }
}
