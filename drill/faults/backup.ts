import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { binary, launch, until } from '../../test/support/process.ts';
import { send } from '../client.ts';
import { endGateway, Instance } from '../instance.ts';
import type { Scenario } from '../scenario.ts';
import { type KnownGroup, startWriters } from './writers.ts';

/** Runs a command of the gateway. */
const start = (dataDir: string, args: readonly string[]) => launch(process.execPath, [binary, ...args], { DATA_DIR: dataDir });

/** Backups while writers run, with a fault during each, and what they restore to. */
export const backupScenario: Scenario = {
  name: 'backup',
  summary: 'backups while writers run, with SIGKILL of the gateway, of PostgreSQL and of the backup during them; restore',
  async run(context) {
    const { folder, figure, expect, onEnd } = context;
    const instance = new Instance(context, { ENCRYPTION_KEYS: '' }); // in DATA_DIR, and so in the backup
    let gateway = await instance.start();
    const token = await instance.createToken(gateway.port);
    const writers = startWriters(() => gateway.port, token, context);
    const faults: Readonly<Record<string, (backup: ReturnType<typeof start>) => unknown>> = {
      none: () => {},
      gateway: async () => {
        await endGateway(gateway, 'SIGKILL');
        gateway = await instance.start();
      },
      postgres: () => process.kill(instance.runningPostmaster(), 'SIGKILL'),
      backup: ({ child }) => child.kill('SIGKILL'),
      'none again': () => {},
    };
    const outcomes: string[] = [];
    for (const [name, fault] of Object.entries(faults)) {
      await writers.more(60);
      const known = writers.snapshot();
      const target = join(folder, `backup ${name}`);
      const backup = start(instance.path, ['backup', target]);
      onEnd(() => void backup.child.kill('SIGKILL'));
      await until(() => existsSync(target) || backup.child.exitCode !== null, 'the backup begins');
      await fault(backup);
      const { code, stderr } = await backup.ended;
      const isComplete = existsSync(join(target, 'manifest.json'));
      // One that is killed right at its end is complete.
      if (name !== 'backup') expect((code === 0) === isComplete, `backup with ${name}: exit ${code}: ${stderr}`);
      if (name.startsWith('none')) expect(code === 0, `a backup without a fault failed: ${stderr}`);
      outcomes.push(`${name}: ${isComplete ? 'complete' : 'failed cleanly'}`);
      if (!isComplete) continue;
      const copy = new Instance(context, { ENCRYPTION_KEYS: '' }, `restored ${name}`);
      const restored = await start(copy.path, ['restore', target]).ended;
      expect(restored.code === 0, `restore ended with ${restored.code}: ${restored.stderr.slice(-500)}`);
      const second = await copy.start();
      const missing = await missingFrom(second.port, token, known);
      expect(missing.length === 0, `${missing.length} writes before the backup are missing: ${missing.slice(0, 3).join('; ')}`);
      await endGateway(second, 'SIGTERM');
    }
    await writers.stop();
    const missing = await missingFrom(gateway.port, token, writers.snapshot());
    expect(missing.length === 0, `missing after the faults: ${missing.slice(0, 3).join('; ')}`);
    expect(writers.wrong.length === 0, `wrong responses: ${writers.wrong.slice(0, 3).join('; ')}`);
    figure(outcomes.join(', '));
  },
};

/** The known groups that a gateway lacks. It may have later changes. */
async function missingFrom(port: number, token: string, known: readonly KnownGroup[]): Promise<string[]> {
  const missing: string[] = [];
  for (const { id, teamId, acknowledgedName } of known) {
    const { json, text } = await send(port, 'GET', '/api/user', { token, body: { user_group_id: id } });
    const group = json?.user_group;
    if (json?.new_user_group !== false || group.team_id !== teamId || !(Number(group.name) >= acknowledgedName))
      missing.push(`${id}: ${text.slice(0, 200)}`);
  }
  return missing;
}
