// A process that has a long document checked and then has nothing left to do, though the pool is not closed.
import { documentChecker } from '../../../src/docs-config/pool/check-documents.ts';

// A promise alone does not keep a process alive, and a thread may not.
const alive = setInterval(() => undefined, 1000);
const report = await documentChecker.check(`{"name": "${'a'.repeat(100_000)}", "navigation": []}`, {});
clearInterval(alive);
process.stdout.write(report.valid ? 'done\n' : 'not valid\n');
