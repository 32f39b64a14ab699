import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { openDatabase } from '../../../src/database/open.ts';
import { startPair } from '../../../test/support/bundled-server.ts';
import { runEvent, startGateways, startLoadOn } from '../gateways.ts';
import type { ScaleRow } from '../scale-row.ts';

/** A primary and a synchronous standby of the bundled PostgreSQL, both in `DATABASE_URL`, and an operator who promotes. */
export const multiHostRow: ScaleRow = {
  name: 'multi-host',
  needs: {},
  async run(context) {
    const created = join(context.folder, 'created');
    mkdirSync(created);
    chmodSync(created, 0o755);
    await (await openDatabase({ databaseUrl: undefined, dataDir: created, namedStatements: true, onEvent: () => {} })).close();
    const { primary, standby } = await startPair(created);
    context.onEnd(async () => {
      await standby.remove();
      await primary.remove();
    });
    const url = `postgresql://${primary.user}@${primary.address},${standby.address}/user_group_gateway?target_session_attrs=read-write`;
    const gateways = await startGateways(context, url, 2);
    const load = startLoadOn(context, gateways);
    const result = await runEvent(load, gateways, 'primary crashes, standby promoted 3 s later', async () => {
      await primary.crash();
      await new Promise((resolve) => setTimeout(resolve, 3_000));
      await standby.promote();
    });
    context.result(result);
  },
};
