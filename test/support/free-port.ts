import { once } from 'node:events';
import { createServer } from 'node:net';

/** A port that nothing listens on, below those that systems choose for connections, so that none takes it meanwhile. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 10_000);
    const server = createServer();
    const listening = once(server.listen(port, '127.0.0.1'), 'listening').then(
      () => true,
      () => false,
    );
    if (!(await listening)) continue;
    server.close();
    await once(server, 'close');
    return port;
  }
}

/** Several such ports, all different. */
export async function freePorts(count: number): Promise<number[]> {
  const ports = new Set<number>();
  while (ports.size < count) ports.add(await freePort());
  return [...ports];
}
