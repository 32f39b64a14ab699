import type { Writable } from 'node:stream';
import { readPackageVersion } from '../../package-root.ts';
import { escapeJson, escapeLines } from '../../terminal-text.ts';
import { asksForHelp, readOptions } from '../options.ts';
import { UsageError } from '../usage-error.ts';
import { counted, type Status } from './check.ts';
import { checkNames, type DoctorOptions, type Finding, runChecks } from './run-checks.ts';

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
  stdout: Writable = process.stdout,
  options: DoctorOptions = { environment: process.env },
): Promise<number> {
  if (asksForHelp(args)) {
    stdout.write(doctorHelp);
    return 0;
  }
  const { given, words, problems } = readOptions(args, { json: 'flag' });
  if (words.length + problems.length > 0)
    throw new UsageError([...problems, 'doctor accepts only --json.', '', doctorHelp].join('\n'));
  const isJson = given.has('json');
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
  return `${status.padEnd(statusWidth)}  ${name.padEnd(nameWidth)}  ${escapeLines(`${found}${remedy ? `. ${remedy}` : ''}`)}\n`;
}
