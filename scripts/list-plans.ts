// Checks what pages of lists cost PostgreSQL with many groups: npm run plans -- --groups 1000000
import { parseArgs } from 'node:util';
import { costOfPages, fillGroups, type PlanCost } from '../test/support/list-plans.ts';
import { openTemporaryDatabase } from './temporary-database.ts';

const { groups } = parseArgs({ options: { groups: { type: 'string', default: '1000000' } } }).values;
const count = Number(groups);
if (!Number.isInteger(count) || count < 1) throw new Error(`--groups must be a whole number from 1, not ${groups}.`);

const settings = ['fsync=off', 'full_page_writes=off', 'max_wal_size=2GB', 'maintenance_work_mem=256MB'];
const { database, close } = await openTemporaryDatabase(settings);
/** Not the opposite of "more": what was not measured is not within the limit. */
const isWithin = ({ buffers, maxBuffers }: PlanCost): boolean => buffers > 0 && buffers <= maxBuffers;
const describe = (cost: PlanCost): string => {
  const { title, buffers, maxBuffers } = cost;
  return `${isWithin(cost) ? 'ok  ' : 'FAIL'} ${String(buffers).padStart(6)} of ${maxBuffers}  ${title}\n`;
};
try {
  const startedMs = Date.now();
  await fillGroups(database.pool, count);
  process.stdout.write(
    `${count} groups in ${Math.round((Date.now() - startedMs) / 1_000)} s; buffers read for a page, or the positions of a filtered one:\n`,
  );
  const costs = await costOfPages(database);
  for (const cost of costs) process.stdout.write(describe(cost));
  const failed = costs.filter((cost) => !isWithin(cost)).length;
  process.stdout.write(`${costs.length - failed} passed, ${failed} failed\n`);
  process.exitCode = failed === 0 && costs.length > 0 ? 0 : 1;
} finally {
  await close();
}
