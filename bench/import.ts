// `npm run bench -- import`: the rate of `groups import` as a part of that of COPY into the same table with its indexes.
import { join } from 'node:path';
import { runAlone } from '../test/support/process.ts';
import { median } from './compare.ts';
import { openDatabase } from './database.ts';
import { encryptionKey } from './encryption.ts';
import { stopAll } from './systems.ts';

/** The least part of the rate of COPY that the command must reach. */
const leastRatio = 0.2;

/** How often each way is measured; they take turns. */
const rounds = 5;

const columns = 'provided_id, environment_tag, name, token_hash, token_encrypted, properties, mapping';

/**
 * Measures COPY, by the server from a file of its own, and the whole command, its start included, on the same groups.
 *
 * @param interrupted rejects when the run is to end; what it started is then cleaned up.
 * @returns whether the command reached its target.
 */
export async function compareImport(
  print: (text: string) => void,
  groups: number,
  interrupted: Promise<never>,
): Promise<boolean> {
  const { url, folder, query, close } = await openDatabase(groups);
  const file = (name: string) => join(folder, `groups.${name}`);
  const runGroups = async (...args: string[]) => {
    const { code, stderr } = await runAlone(['groups', ...args], { DATABASE_URL: url, ENCRYPTION_KEYS: encryptionKey });
    if (code !== 0) throw new Error(`groups ${args.join(' ')} failed:\n${stderr}`);
  };
  const ways = {
    // Without events, as an import.
    copy: () => query(`begin; set local gateway.silent = 'on'; copy user_group (${columns}) from '${file('copy')}'; commit`),
    ndjson: () => runGroups('import', file('ndjson')),
    csv: () => runGroups('import', file('csv')),
  };
  const rates: Record<keyof typeof ways, number[]> = { copy: [], ndjson: [], csv: [] };
  const names = Object.keys(ways) as (keyof typeof ways)[];
  const run = async () => {
    await query(`copy user_group (${columns}) to '${file('copy')}'`);
    for (const format of ['ndjson', 'csv']) await runGroups('export', '--format', format, '--output', file(format));
    for (let round = 0; round < rounds; round += 1) {
      for (const way of names) {
        await query('truncate user_group restart identity cascade');
        await query('checkpoint');
        const startedAt = performance.now();
        await ways[way]();
        rates[way].push((groups / (performance.now() - startedAt)) * 1_000);
        const [{ count } = { count: 0 }] = await query<{ count: number }>('select count(*)::int as count from user_group');
        if (count !== groups) throw new Error(`${way} wrote ${count} of ${groups} groups.`);
      }
    }
  };
  try {
    await Promise.race([run(), interrupted]);
  } finally {
    await stopAll();
    await close();
  }
  print(`${groups} groups, medians of ${rounds} rounds; groups per second and the ratio to COPY\n`);
  const ratios = names.map((way) => {
    const ratio = median(rates[way].map((rate, round) => rate / (rates.copy[round] as number)));
    print(`${way.padEnd(7)} ${Math.round(median(rates[way]))}  ${ratio.toFixed(2)}\n`);
    return ratio;
  });
  return ratios.every((ratio) => ratio >= leastRatio);
}
