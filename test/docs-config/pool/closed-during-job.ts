// A process that has a long document checked, closes the checker before that is done, and then has nothing left to do.
import { documentChecker } from '../../../src/docs-config/pool/check-documents.ts';

const checked = documentChecker.check(`{"name": "${'a'.repeat(100_000)}", "navigation": []}`, {});
const failed = Promise.resolve(checked).then(
  () => 'checked',
  ({ code }) => code,
);
await documentChecker.close();
process.stdout.write((await failed) === 'UNAVAILABLE' ? 'done\n' : 'not closed\n');
