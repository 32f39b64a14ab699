// Compares the fast path with the full pipeline on GraphQL requests generated from the schema: npm run fuzz -- --runs N --seed N
import { parseArgs } from 'node:util';
import fc from 'fast-check';
import { schema } from '../src/schema.ts';
import { createComparison, type Figures } from '../test/support/fuzz/paths.ts';
import { requestsOf } from '../test/support/fuzz/requests.ts';
import { openTemporaryDatabase } from './temporary-database.ts';

const progressEveryMs = 5_000;

const print = (text: string) => void process.stdout.write(`${text}\n`);

function readNumber(name: string, text: string | undefined, otherwise: number): number {
  const value = text === undefined ? otherwise : Number(text);
  if (Number.isInteger(value)) return value;
  throw new Error(`--${name} must be a whole number, not ${text}.`);
}

function describe({ documents, executed, compiled, compiledPages, fast, left, unseen, constructs }: Figures): string {
  const percent = (part: number, whole: number) => `${((100 * part) / Math.max(1, whole)).toFixed(1)} %`;
  return [
    `${documents} documents, ${executed} executed on the fast path (${percent(executed, documents)}) of which ${compiled} compiled (${percent(compiled, executed)}), ${compiledPages} with a page of a list`,
    `${fast + left} requests, ${fast} served by the fast path (${percent(fast, fast + left)}) and compared, ${unseen} with a new text`,
    ...Object.entries(constructs).map(([name, count]) => `  ${name}: ${count}`),
  ].join('\n');
}

/** @returns whether no response differed, enough was compared, and no rejection was left unhandled. */
async function fuzz(runs: number, seed: number, path: string | undefined): Promise<boolean> {
  const { database, close } = await openTemporaryDatabase(['fsync=off']);
  // PostgreSQL must be stopped in any case: work in progress of a failed operation may reject later, without a handler.
  let isUnhandled = false;
  process.on('unhandledRejection', (error) => {
    isUnhandled = true;
    process.stderr.write(`Unhandled rejection: ${error instanceof Error ? error.stack : error}\n`);
  });
  process.stdout.on('error', () => {}); // a closed pipe, for example to head
  try {
    const { compare, known, figures } = await createComparison(database);
    const began = Date.now();
    const progress = setInterval(() => {
      const seconds = Math.round((Date.now() - began) / 1000);
      process.stderr.write(`${figures.documents} of ${runs} documents, ${figures.fast} requests compared, ${seconds} s\n`);
    }, progressEveryMs);
    const details = await fc.check(fc.asyncProperty(requestsOf(schema, known), compare), {
      numRuns: runs,
      seed,
      ...(path !== undefined && { path }),
    });
    clearInterval(progress);
    print(describe(figures));
    if (details.failed) {
      const { counterexamplePath, numShrinks, errorInstance } = details;
      print(`1 mismatch after ${details.numRuns} documents, shrunk ${numShrinks} times`);
      print(String((errorInstance as Error | null)?.message ?? errorInstance));
      print(`Reproduce: npm run fuzz -- --runs ${runs} --seed ${seed} --path ${counterexamplePath}`);
      return false;
    }
    print('0 mismatches');
    const enough = figures.compiled > 0.05 * figures.executed && figures.fast > figures.left;
    if (!enough && path === undefined)
      print('Too few documents were compiled or served by the fast path: this run compared almost nothing.');
    if (isUnhandled) print('A rejection was not handled, see above: the server must handle every one.');
    return (enough || path !== undefined) && !isUnhandled;
  } finally {
    await close();
  }
}

async function main(args: string[]): Promise<number> {
  const text = { type: 'string' } as const;
  const { runs, seed, path } = parseArgs({ args, options: { runs: text, seed: text, path: text } }).values;
  const count = readNumber('runs', runs, 10_000);
  const from = readNumber('seed', seed, Math.floor(Math.random() * 2 ** 31));
  print(`seed ${from}, ${count} documents`);
  return (await fuzz(count, from, path)) ? 0 : 1;
}

main(process.argv.slice(2)).then(
  (status) => process.exit(status),
  (error: Error) => {
    process.stderr.write(`${error.stack}\n`);
    process.exit(2);
  },
);
