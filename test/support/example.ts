import { spawnSync } from 'node:child_process';
import type { Outcome, RunnableCase } from './conformance.ts';
import { launch } from './process.ts';

/** Whether a program does not run here, for `describe.skipIf`. If so, says which packages have it. */
export function lacks(program: string, args: string[], debianPackages: string): boolean {
  if (spawnSync(program, args, { stdio: 'ignore' }).status === 0) return false;
  process.stderr.write(`Tests are skipped, because ${program} ${args.join(' ')} fails: apt-get install ${debianPackages}\n`);
  return true;
}

/** Executes the calls of a conformance case with a runner: a program that reads the case and prints the outcomes. */
export async function runInProcess(
  program: string,
  args: string[],
  testCase: RunnableCase,
  settings: Readonly<Record<string, string>> = {},
): Promise<readonly Outcome[]> {
  const { child, ended } = launch(program, args, settings, { stdio: ['pipe', 'pipe', 'pipe'] });
  child.stdin?.end(JSON.stringify(testCase));
  const { code, stdout, stderr } = await ended;
  if (code !== 0) throw new Error(`${program} ended with ${code}: ${stderr}`);
  return JSON.parse(stdout);
}
