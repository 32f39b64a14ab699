import { spawnSync } from 'node:child_process';
import { Webhook } from 'standardwebhooks';
import type { Outcome, RunnableCase } from './conformance.ts';
import type { TestGateway } from './gateway.ts';
import { launch } from './process.ts';
import { snippetsOf } from './snippets.ts';

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

/** The samples of an example's README in its language, which then call a gateway. */
export function samplesOf(readme: string, language: string, { url }: TestGateway): string[] {
  const samples = snippetsOf(readme).filter((snippet) => snippet.language === language);
  return samples.map(({ text }) => text.replaceAll('https://example.com/groups', url));
}

/** A webhook as the samples get it. */
export function signedWebhook() {
  const secret = `whsec_${Buffer.from('the secret of a webhook').toString('base64')}`;
  const body = JSON.stringify({ type: 'user_group.updated', timestamp: '2026-01-31T12:00:00.000Z', data: { team_id: 7 } });
  const sentAt = new Date();
  const headers = {
    'webhook-id': 'msg_1',
    'webhook-timestamp': String(Math.floor(sentAt.getTime() / 1_000)),
    'webhook-signature': new Webhook(secret).sign('msg_1', sentAt, body),
  };
  return { secret, headers, body };
}
