import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { issueApiToken } from '../../../src/api-tokens/api-tokens.ts';
import { endGateway, Instance } from '../../instance.ts';
import type { Scenario, ScenarioContext } from '../../scenario.ts';
import { checkWriters } from '../check-writers.ts';
import { startWriters } from '../writers.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** Runs git in the checkout. @throws Error when there is none. */
const git = (...args: string[]): string =>
  execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();

/** The newest migration, and the commit before it. */
function previousCommit(): { readonly migration: string; readonly commit: string } | undefined {
  try {
    const migration = readdirSync(join(root, 'prisma/migrations'))
      .filter((name) => /^\d/.test(name))
      .sort()
      .at(-1);
    if (!migration) return undefined;
    const file = `prisma/migrations/${migration}/migration.sql`;
    const added = git('log', '--diff-filter=A', '--format=%H', '--', file).split('\n').at(-1);
    return added ? { migration, commit: git('rev-parse', `${added}^`) } : undefined;
  } catch {
    return undefined;
  }
}

/** Builds the gateway of a commit in a folder. @returns its `dist/main.js`. */
function build(commit: string, folder: string): string {
  mkdirSync(folder);
  const archive = join(folder, 'source.tar');
  git('archive', '--output', archive, commit);
  execFileSync('tar', ['-xf', archive, '-C', folder]);
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  execFileSync(process.execPath, [join(folder, 'scripts/compile.js')], { cwd: folder, stdio: 'ignore' });
  const binary = join(folder, 'dist/main.js');
  if (!existsSync(binary)) throw new Error(`The gateway of ${commit} was not built.`);
  return binary;
}

const tokenRequest = {
  name: 'drill',
  environmentTag: 'Testing',
  scopes: ['groups:read', 'groups:write'],
  expiresAt: null,
} as const;

/** An upgrade while the old gateway runs, and the way back. */
export const upgradeScenario: Scenario = {
  name: 'upgrade',
  summary: 'the gateway before the newest migration and this one on one database, writes on both, and back to the old one',
  missing: () => (previousCommit() ? undefined : 'There is no git history with a commit before the newest migration.'),
  async run(context: ScenarioContext) {
    const { figure, expect } = context;
    const { migration, commit } = previousCommit() as NonNullable<ReturnType<typeof previousCommit>>;
    const binary = build(commit, join(context.folder, 'old'));
    const instance = new Instance(context);
    const startOld = () => instance.start({}, [], binary);

    const old = await startOld();
    // Not over GraphQL, whose names may differ in the old one.
    const { secret: token } = await instance.withDatabase(({ prisma }) => issueApiToken(prisma, tokenRequest));
    const before = startWriters(() => old.port, token, context, 4, false);
    await before.more(60);

    const current = await instance.start(); // applies the migration while the old one serves
    const after = startWriters(() => current.port, token, context, 4);
    await before.more(60);
    await after.more(60);
    // Back: the new one stops, the old one continues, and starts again on the database of the new one.
    await after.stop();
    const how = await endGateway(current, 'SIGTERM');
    expect(how === 'exit status 0', `the new gateway ended with ${how}`);
    await before.more(60);
    await checkWriters(context, before, instance);
    expect(before.refused + before.closed === 0, `${before.refused + before.closed} requests to the old gateway failed`);
    await endGateway(old, 'SIGTERM');
    const again = await startOld();
    const last = startWriters(() => again.port, token, context, 4, false);
    await last.more(60);
    await checkWriters(context, last, instance);
    await endGateway(again, 'SIGTERM');
    const forward = await instance.start();
    await checkWriters(context, after, instance);
    await endGateway(forward, 'SIGTERM');
    figure(`from ${commit.slice(0, 7)} by migration ${migration} and back`);
  },
};
