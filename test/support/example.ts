import { spawnSync } from 'node:child_process';
import type { TestContext } from 'vitest';
import type { Outcome, RunnableCase } from './conformance.ts';
import { launch } from './process.ts';

/** Marks the test as skipped where a program does not run, and says which package has it. */
export function requireProgram(context: TestContext, program: string, args: string[], debianPackages: string): void {
  if (spawnSync(program, args, { stdio: 'ignore' }).status === 0) return;
  const reason = `${[program, ...args].join(' ')} does not run: apt-get install ${debianPackages}`;
  process.stderr.write(`${reason}\n`);
  context.skip(reason);
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
