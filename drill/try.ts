import { printSummary } from './drill.ts';
import { runRows } from './run-rows.ts';
const rows = [];
for (const name of process.argv.slice(2)) rows.push(...Object.values(await import(`./faults/rows/${name}.ts`)).flat());
const c = new AbortController(); process.on('SIGINT', () => c.abort());
await runRows(rows as any, c.signal); printSummary(); process.exit(0);
