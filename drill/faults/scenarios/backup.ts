import type { ChildProcess } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { binary, launch, until } from '../../../test/support/process.ts';
import { send, sendGraphQL } from '../../client.ts';
import { endGateway, Instance } from '../../instance.ts';
import type { Scenario } from '../../scenario.ts';
import { type KnownGroup, startWriters } from '../writers.ts';

/** Starts a command of the gateway. */
const start = (dataDir: string, args: readonly string[]) => launch(process.execPath, [binary, ...args], { DATA_DIR: dataDir });

const fill = `mutation ($groups: [GetOrCreateUserGroupInput!]!) {
  getOrCreateUserGroups(input: { groups: $groups }) { __typename }
}`;

/** Backups while writers run, with a fault during each, and what they restore to. */
export const backupScenario: Scenario = {
  name: 'backup',
  summary: 'backups while writers run, with SIGKILL of the gateway, of PostgreSQL and of the backup during them; restore',
  async run(context) {
    const { folder, figure, expect, totals, onEnd } = context;
    const instance = new Instance(context, { ENCRYPTION_KEYS: '' }); // in DATA_DIR, and so in the backup
    let gateway = await instance.start();
    const token = await instance.createToken(gateway.port);
    for (let part = 0; part < 20; part += 1) {
      const properties = { text: 'x'.repeat(2_000) };
      const groups = Array.from({ length: 200 }, (_, index) => ({ providedId: `fill ${part} ${index}`, properties }));
      const { status, text } = await sendGraphQL(gateway.port, fill, { groups }, { token });
      if (status !== 200 || !/Payload/.test(text))
        throw new Error(`The groups were not created: ${status} ${text.slice(0, 300)}`);
    }
    const writers = startWriters(() => gateway.port, token, context);
    const outcomes: string[] = [];
    const backupWith = async (name: string, fault: (child: ChildProcess) => Promise<void>) => {
      await writers.more(60);
      const known = writers.snapshot();
      const target = join(folder, `backup-${name.replaceAll(' ', '-')}`);
      const backup = start(instance.path, ['backup', target]);
      onEnd(() => {
        backup.child.kill('SIGKILL');
      });
      // It writes next to the target first; from then on it runs.
      await until(
        () =>
          backup.child.exitCode !== null ||
          readdirSync(folder).some((each) => each.startsWith(`backup-${name.replaceAll(' ', '-')}`)),
        'the backup begins',
      );
      const isRunning = backup.child.exitCode === null;
      await fault(backup.child);
      const { code, stderr } = await backup.ended;
      const isThere = existsSync(target);
      expect((code === 0) === isThere, `backup with ${name}: exit ${code}, but ${isThere ? 'a' : 'no'} folder: ${stderr}`);
      expect(isRunning, `the backup with ${name} ended before the fault`);
      outcomes.push(`${name}: ${code === 0 ? 'complete' : 'failed cleanly'}`);
      return { target: isThere ? target : undefined, known };
    };

    const plain = await backupWith('no fault', async () => {});
    const withoutGateway = await backupWith('gateway killed', async () => {
      await endGateway(gateway, 'SIGKILL');
      gateway = await instance.start();
      totals.kills += 1;
    });
    const withoutServer = await backupWith('PostgreSQL killed', async () => {
      process.kill(instance.runningPostmaster(), 'SIGKILL');
      totals.kills += 1;
    });
    const killed = await backupWith('backup killed', async (child) => {
      child.kill('SIGKILL');
    });
    const taken = [plain, withoutGateway, withoutServer, killed, await backupWith('nothing after faults', async () => {})];
    await writers.more(60);
    await writers.stop();
    expect(killed.target === undefined, 'a backup that was killed is complete: it was killed after its end');
    expect(plain.target !== undefined, 'a backup without a fault failed');
    expect(taken.at(-1)?.target !== undefined, 'a backup after the faults failed');
    figure(outcomes.join(', '));

    let restored = 0;
    let lostOfBackups = 0;
    for (const [index, { target, known }] of taken.entries()) {
      if (!target) continue;
      const copy = new Instance(context, { ENCRYPTION_KEYS: '' }, `restored-${index}`);
      const { code, stderr } = await start(copy.path, ['restore', target]).ended;
      expect(code === 0, `restore ended with ${code}: ${stderr.slice(-500)}`);
      if (code !== 0) continue;
      const second = await copy.start();
      const missing = await missingFrom(second.port, token, known);
      totals.lost += missing.length;
      lostOfBackups += missing.length;
      expect(
        missing.length === 0,
        `${missing.length} writes from before the backup are missing: ${missing.slice(0, 3).join('; ')}`,
      );
      await endGateway(second, 'SIGTERM');
      restored += 1;
    }
    const known = writers.snapshot();
    const missing = await missingFrom(gateway.port, token, known);
    totals.acknowledged += writers.acknowledged;
    totals.lost += missing.length;
    expect(missing.length === 0, `missing after the faults: ${missing.slice(0, 3).join('; ')}`);
    expect(writers.wrong.length === 0, `wrong responses: ${writers.wrong.slice(0, 3).join('; ')}`);
    figure(`${restored} restored; ${lostOfBackups} of the writes acknowledged before they began are missing`);

    if (plain.target) {
      const file = largestFile(plain.target);
      const bytes = readFileSync(file);
      const middle = bytes.length >> 1;
      bytes[middle] = (bytes[middle] ?? 0) ^ 1;
      writeFileSync(file, bytes);
      const other = join(folder, 'corrupt');
      const { code, stderr } = await start(other, ['restore', plain.target]).ended;
      expect(
        code !== 0 && !existsSync(join(other, 'postgres')),
        `a backup with a wrong byte was restored: ${stderr.slice(-300)}`,
      );
      expect(stderr.includes(basename(file)), `the error does not name ${file}: ${stderr.slice(-300)}`);
      figure(`restore with a wrong bit ended with ${code}`);
    }
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

/** The largest file below a folder. */
function largestFile(folder: string): string {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name));
  const sizes = files.map((file) => ({ file, size: statSync(file).isFile() ? statSync(file).size : -1 }));
  return sizes.reduce((largest, each) => (each.size > largest.size ? each : largest)).file;
}
