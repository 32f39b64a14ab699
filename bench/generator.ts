import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { Measurement, Order, Recall, Recalled, Reply, Run } from './load/protocol.ts';
import { startGenerator } from './systems.ts';

/** The process of the load generator. */
export interface Generator {
  learn(database: string, file: string): Promise<void>;
  run(run: Omit<Run, 'kind'>): Promise<Measurement>;
  /** Some groups as the load generator expects them to be stored. */
  recall(recall: Omit<Recall, 'kind'>): Promise<readonly Recalled[]>;
}

/** Starts the load generator. */
export function openGenerator(): Generator {
  const child = startGenerator();
  return {
    async learn(database, file) {
      await ask(child, { kind: 'learn', database, file });
    },
    async run(run) {
      const reply = await ask(child, { kind: 'run', ...run });
      if (reply.kind !== 'measured') throw new Error('unexpected message from the load generator');
      return reply.measurement;
    },
    async recall(recall) {
      const reply = await ask(child, { kind: 'recall', ...recall });
      if (reply.kind !== 'recalled') throw new Error('unexpected message from the load generator');
      return reply.groups;
    },
  };
}

async function ask(child: ChildProcess, order: Order): Promise<Reply> {
  const ended = new AbortController();
  const onExit = () => ended.abort(new Error('the load generator exited'));
  child.once('exit', onExit);
  try {
    child.send(order);
    const [reply] = (await once(child, 'message', { signal: ended.signal })) as [Reply];
    if (reply.kind === 'failed') throw new Error(reply.message);
    return reply;
  } finally {
    child.off('exit', onExit);
  }
}
