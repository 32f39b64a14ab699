import { execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { until } from '../../test/support/process.ts';
import { isReady, isRefusal, send, sendGraphQL } from '../client.ts';
import { Instance } from '../instance.ts';
import { type Scenario, seconds } from '../scenario.ts';
import { checkWriters } from './check-writers.ts';
import { startWriters } from './writers.ts';

const sizeMiB = 200;
const read = 'query ($id: String!) { userGroup(by: { providedId: $id }) { token } }';
const fill = `mutation ($groups: [GetOrCreateUserGroupInput!]!) {
  result: getOrCreateUserGroups(input: { groups: $groups }) { __typename }
}`;

/** Why a small file system cannot be mounted; undefined if it can. */
function unmountable(): string | undefined {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'Needs root on Linux, to mount a small tmpfs.';
  try {
    execFileSync('unshare', ['--mount', 'mount', '-t', 'tmpfs', '-o', 'size=1M', 'none', '/mnt'], { stdio: 'ignore' });
    return undefined;
  } catch {
    return 'Mounting a tmpfs is not permitted here.';
  }
}

/** Takes the rest of the space of a file system. */
function takeSpace(file: string): void {
  const handle = openSync(file, 'a');
  try {
    for (const size of [2 ** 20, 4_096, 1]) {
      const block = Buffer.alloc(size, 1);
      try {
        for (;;) if (writeSync(handle, block) < size) break;
      } catch {
        // full for this size
      }
    }
  } finally {
    closeSync(handle);
  }
}

/** No space left in `DATA_DIR`. */
export const diskFullScenario: Scenario = {
  name: 'disk-full',
  summary: `no space left in DATA_DIR, a tmpfs of ${sizeMiB} MiB, while writers run`,
  missing: unmountable,
  async run(context) {
    const { folder, figure, expect, onEnd } = context;
    const mount = join(folder, 'small');
    mkdirSync(mount);
    onEnd(() => {
      execFileSync('umount', ['--lazy', mount], { stdio: 'ignore' });
    });
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${sizeMiB}M,mode=755`, 'none', mount]);
    const instance = new Instance(context, {}, 'small/data');
    const gateway = await instance.start();
    const { port } = gateway;
    const token = await instance.createToken(port);
    await send(port, 'GET', '/api/user', { token, body: { user_group_id: 'there' } });
    const writers = startWriters(() => port, token, context);
    await writers.more(200);

    takeSpace(join(mount, 'ballast'));
    // The server has some space of its own left; writes use it up.
    const properties = { text: 'x'.repeat(20_000) };
    let refusal = '';
    let refusals = 0;
    let readsServed = 0;
    let reads = 0;
    let part = 0;
    const wrong: string[] = [];
    const began = performance.now();
    const fullUntil = () => refusals < 40 || performance.now() - began < 10_000;
    while (fullUntil() && performance.now() - began < 60_000) {
      part += 1;
      const groups = Array.from({ length: 40 }, (_, index) => ({ providedId: `fill ${part} ${index}`, properties }));
      const write = await sendGraphQL(port, fill, { groups }, { token });
      if (isRefusal(write)) {
        refusals += 1;
        refusal = write.text;
        takeSpace(join(mount, 'ballast')); // what the server gave back
        await pause(50);
      } else if (write.status !== 200 || write.json?.errors) wrong.push(`${write.status} ${write.text.slice(0, 300)}`);
      if (refusals > 0) {
        reads += 1;
        const reply = await sendGraphQL(port, read, { id: 'there' }, { token });
        if (reply.status === 200 && reply.json.data.userGroup?.token) readsServed += 1;
        else if (!isRefusal(reply)) wrong.push(`${reply.status} ${reply.text.slice(0, 300)}`);
      }
    }
    expect(refusals >= 40, `only ${refusals} writes were refused in a minute`);
    expect(wrong.length === 0, `${wrong.length} wrong responses: ${wrong[0]}`);
    const livez = await send(port, 'GET', '/livez');
    expect(livez.status === 200, `/livez responded with ${livez.status}`);

    rmSync(join(mount, 'ballast'));
    const freedAt = performance.now();
    await until(() => writers.lastAcknowledgedAt > freedAt, 'writes are acknowledged again');
    await until(() => isReady(port), '/readyz responds with 200');
    const recoveryMs = performance.now() - freedAt;
    await writers.more(60);
    const { bavail, bsize } = statfsSync(mount);
    await checkWriters(context, writers, instance);
    expect(gateway.ended() === undefined, `the gateway ended: ${gateway.ended()}`);
    figure(`${refusals} of ${part} large writes got 503; ${readsServed} of ${reads} reads served meanwhile`);
    figure(`serves ${seconds(recoveryMs)} s after space returned (${Math.round((bavail * bsize) / 2 ** 20)} MiB)`);
    expect(/UNAVAILABLE/.test(refusal), `the refusal is unclear: ${refusal}`);
  },
};
