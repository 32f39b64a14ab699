// The load generator: a separate process, so that creating requests takes no time from the server.
import type { Order, Reply } from './protocol.ts';
import { Groups } from './rows.ts';
import { measure } from './run.ts';

const databases = new Map<string, Groups>();

process.on('message', (order: Order) => {
  obey(order).then(
    (reply) => process.send?.(reply),
    (error: Error) => process.send?.({ kind: 'failed', message: error.message } satisfies Reply),
  );
});
process.on('disconnect', () => process.exit());

async function obey(order: Order): Promise<Reply> {
  if (order.kind === 'learn') {
    databases.set(order.database, new Groups(order.file));
    return { kind: 'done' };
  }
  const groups = databases.get(order.database);
  if (!groups) throw new Error(`unknown database ${order.database}`);
  if (order.kind === 'run') return { kind: 'measured', measurement: await measure(order, groups) };
  const recalled = Array.from({ length: order.count }, () => groups.draw()).map((index) => ({
    index,
    token: groups.token(index),
    revision: groups.storedRevision(index),
  }));
  return { kind: 'recalled', groups: recalled };
}
