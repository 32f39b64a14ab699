// `npm run bench -- import`: the rate of `groups import` as a part of that of COPY into the same table with its indexes.
import { createWriteStream, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'csv-stringify/sync';
import { issueToken } from '../src/tokens.ts';
import { type BenchDatabase, startServer } from './database.ts';
import { encryptionKey, storedToken } from './encryption.ts';
import { environmentOf } from './load/rows.ts';
import { median } from './statistics.ts';
import { runCommand } from './systems.ts';

/** The least part of the rate of COPY that the command must reach. */
const leastRatio = 0.2;

/** How often each way is measured; they take turns. */
const rounds = 5;

const formats = ['ndjson', 'csv'] as const;

/**
 * Measures COPY, by the server from a file of its own, and the whole command, its start included, on the same groups.
 *
 * @param interrupted rejects when the run is to end; what it started is then cleaned up.
 * @param groups how many.
 * @returns whether the command reached its target.
 */
export async function compareImport(
  print: (text: string) => void,
  interrupted: Promise<never>,
  groups = 100_000,
): Promise<boolean> {
  const server = await startServer();
  const folder = mkdtempSync(join(tmpdir(), 'user-group-gateway-bench-import-'));
  try {
    const database = await server.seed('import', 0);
    const copyFile = join(server.folder, 'groups.copy');
    await writeFiles(folder, copyFile, groups);
    const ways = {
      // Without events, as an import.
      copy: () => database.query(`begin; set local gateway.silent = 'on'; ${copyGroups} from '${copyFile}'; commit`),
      ndjson: () => runImport(database, join(folder, 'groups.ndjson')),
      csv: () => runImport(database, join(folder, 'groups.csv')),
    };
    const rates: Record<keyof typeof ways, number[]> = { copy: [], ndjson: [], csv: [] };
    for (let round = 0; round < rounds; round += 1) {
      for (const way of ['copy', ...formats] as const) {
        await database.query('truncate user_group restart identity cascade');
        await database.query('checkpoint');
        const start = performance.now();
        await Promise.race([ways[way](), interrupted]);
        rates[way].push((groups / (performance.now() - start)) * 1_000);
        const [{ count } = { count: 0 }] = await database.query<{ count: number }>(
          'select count(*)::int as count from user_group',
        );
        if (count !== groups) throw new Error(`${way} wrote ${count} of ${groups} groups.`);
      }
    }
    print(`${groups} groups, medians of ${rounds} rounds; groups per second and the ratio to COPY\n`);
    print(`COPY    ${Math.round(median(rates.copy))}\n`);
    const ratios = formats.map((format) => {
      const each = rates[format].map((rate, round) => rate / (rates.copy[round] as number));
      const [ratio, least, most] = [median(each), Math.min(...each), Math.max(...each)].map((one) => one.toFixed(2));
      print(`${format.padEnd(7)} ${Math.round(median(rates[format]))}  ${ratio} (${least} to ${most}); target ${leastRatio}\n`);
      return median(each);
    });
    return ratios.every((ratio) => ratio >= leastRatio);
  } finally {
    await server.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

const copyGroups = 'copy user_group (provided_id, environment_tag, name, token_hash, token_encrypted, properties, mapping)';

/** Writes the same groups in each format, and as COPY reads them. */
async function writeFiles(folder: string, copyFile: string, groups: number): Promise<void> {
  const files = {
    copy: createWriteStream(copyFile),
    ndjson: createWriteStream(join(folder, 'groups.ndjson')),
    csv: createWriteStream(join(folder, 'groups.csv')),
  };
  for (let index = 0; index < groups; index += 1) {
    // As in load/rows.ts, in an order that is not that of the indexes.
    const group = newGroup(index, String((index * 7_919) % groups).padStart(7, '0'));
    const properties = JSON.stringify(group.properties);
    const mapping = JSON.stringify(group.mapping);
    files.ndjson.write(`${JSON.stringify(group)}\n`);
    if (index === 0) files.csv.write(`${Object.keys(group).join()}\n`);
    files.csv.write(stringify([Object.values({ ...group, properties, mapping })]));
    const { tokenHash, tokenEncrypted } = storedToken(group.token);
    const bytes = [tokenHash, tokenEncrypted].map((value) => `\\\\x${value.toString('hex')}`);
    files.copy.write(`${[group.user_group_id, group.environment, group.name, ...bytes, properties, mapping].join('\t')}\n`);
  }
  await Promise.all(Object.values(files).map((file) => new Promise<void>((resolve) => file.end(resolve))));
}

/** A new group like the seeded ones, as the command reads it. @param digits its own number in its provided id and name. */
export const newGroup = (index: number, digits: string) => ({
  user_group_id: `group-${digits}`,
  name: `Group ${digits}`,
  token: issueToken('userGroup'),
  mapping: { sales: `source-${digits}` },
  properties: { country: 'BE', seats: 10 + (index % 90) },
  environment: environmentOf(index),
});

const runImport = ({ url }: BenchDatabase, file: string): Promise<string> =>
  runCommand(['groups', 'import', file], { DATABASE_URL: url, ENCRYPTION_KEYS: encryptionKey });
