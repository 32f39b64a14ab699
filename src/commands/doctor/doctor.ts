import type { Writable } from 'node:stream';
import { within } from '../../concurrency/within.ts';
import { ConfigError } from '../../errors.ts';
import { readPackageVersion } from '../../package-root.ts';
import { type Config, readConfig } from '../../settings.ts';
import { escapeJson, escapeLines } from '../../terminal-text.ts';
import { redactTokens } from '../../tokens.ts';
import { asksForHelp, readJsonFlag } from '../options.ts';
import { type Check, type CheckContext, counted, failure, type Outcome, type Status } from './check.ts';
import { checkDataDirectory } from './data-directory-check.ts';
import {
  checkClock,
  checkConnections,
  checkDatabase,
  checkDurability,
  checkExtensions,
  checkMigrations,
  checkPrivileges,
  checkReplication,
  checkSchema,
  checkSessions,
} from './database-checks.ts';
import { checkKeys } from './keys-check.ts';
import { checkDisk, checkNode, checkOpenFiles, checkPort, checkSettings } from './machine-checks.ts';

/** A check that was made. */
export interface Finding extends Outcome {
  readonly name: string;
}

/** The checks, in the order in which they are made: later ones use what earlier ones found. Their names are stable. */
const checks: Readonly<Record<string, Check>> = {
  settings: checkSettings,
  node: checkNode,
  port: checkPort,
  'data-directory': checkDataDirectory,
  disk: checkDisk,
  'open-files': checkOpenFiles,
  database: checkDatabase,
  durability: checkDurability,
  replication: checkReplication,
  schema: checkSchema,
  migrations: checkMigrations,
  privileges: checkPrivileges,
  extensions: checkExtensions,
  connections: checkConnections,
  clock: checkClock,
  sessions: checkSessions,
  'encryption-keys': checkKeys,
};

/** The names of the checks. */
export const checkNames = Object.keys(checks);

/** What the checks are made of; a test gives other values than those of this process. */
export type DoctorOptions = Pick<CheckContext, 'environment'> &
  Partial<Pick<CheckContext, 'nodeVersion' | 'now' | 'freeBytes' | 'maxOpenFiles' | 'timeoutMs'>>;

const gibibyte = 2 ** 30;

const defaults = {
  nodeVersion: process.version,
  now: Date.now,
  freeBytes: { warning: gibibyte, failure: gibibyte / 4 },
  timeoutMs: 7_000, // more than connecting to the database may take
};

/**
 * Makes every check, one after another, and yields each result as soon as it is there. Changes nothing.
 *
 * If the settings are invalid, there is one finding for each mistake, and no other check is made.
 */
async function* runChecks(options: DoctorOptions): AsyncGenerator<Finding> {
  let config: Config;
  try {
    config = readConfig(options.environment, false);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    // Of each only the first sentence: what follows may have a new key to use.
    for (const problem of error.problems) yield finding('settings', failure(firstSentence(problem), 'Correct the setting.'));
    return;
  }
  const context: CheckContext = { ...defaults, ...options, config };
  try {
    for (const [name, check] of Object.entries(checks)) {
      const outcome = await bounded(check, context);
      yield finding(name, outcome);
    }
  } finally {
    // Not awaited: a statement that the server does not answer ends after its own limit.
    void context.opened?.close().catch(() => {});
  }
}

const firstSentence = (text: string): string => text.split('. ')[0]?.split('\n')[0] ?? '';

/** On one line, and without tokens, which messages of other programs may contain. */
function finding(name: string, { status, found, remedy }: Outcome): Finding {
  const oneLine = (text: string) => redactTokens(text.replace(/\s+/g, ' ').trim());
  return { name, status, found: oneLine(found), ...(remedy && { remedy: oneLine(remedy) }) };
}

/** Makes a check. A failure is an outcome, and so is a check that takes too long. */
async function bounded(check: Check, context: CheckContext): Promise<Outcome> {
  const { timeoutMs } = context;
  const work = Promise.resolve(context).then(check);
  try {
    return await within(timeoutMs, work, () => {
      delete context.reached; // the others would wait as long for it
      return failure(`did not finish within ${timeoutMs / 1_000} s`, 'Check the machine that it depends on, and the network.');
    });
  } catch (error) {
    return failure(`could not be checked: ${(error as Error).message}`, 'Resolve the failures above first.');
  }
}

const doctorHelp = `Usage: user-group-gateway doctor [--json]

Checks the settings, the database and this machine: one line for each check, with what was found and what to do. Changes
nothing and starts nothing; can be run while gateways run. The exit code is 1 if a check fails.

Checks: ${checkNames.join(', ')}.
`;

/** The width of the longest name, and of the longest status. */
const nameWidth = Math.max(...checkNames.map((name) => name.length));
const statusWidth = 'failure'.length;

/**
 * `doctor [--json]`: checks whether the gateway can work, and what should be changed.
 *
 * @returns 1 if a check fails, else 0.
 * @throws UsageError for invalid arguments.
 */
export async function doctor(
  args: readonly string[],
  stdout: Writable,
  options: DoctorOptions = { environment: process.env },
): Promise<number> {
  if (asksForHelp(args)) {
    stdout.write(doctorHelp);
    return 0;
  }
  const isJson = readJsonFlag(args, 'doctor', doctorHelp);
  const findings: Finding[] = [];
  for await (const each of runChecks(options)) {
    findings.push(each);
    if (!isJson) stdout.write(describe(each));
  }
  const count = (status: Status) => findings.filter((each) => each.status === status).length;
  const isOk = count('failure') === 0;
  if (isJson) {
    const list = findings.map(({ name, status, found, remedy = null }) => ({ name, status, found, remedy }));
    stdout.write(`${escapeJson(JSON.stringify({ ok: isOk, version: readPackageVersion(), checks: list }))}\n`);
  } else {
    stdout.write(
      `${count('ok')} ok, ${counted(count('warning'), 'warning')}, ${counted(count('failure'), 'failure')}, ${count('skipped')} skipped\n`,
    );
  }
  return isOk ? 0 : 1;
}

function describe({ name, status, found, remedy }: Finding): string {
  const text = remedy ? `${found.replace(/\.$/, '')}. ${remedy}` : found;
  return `${status.padEnd(statusWidth)}  ${name.padEnd(nameWidth)}  ${escapeLines(text)}\n`;
}
