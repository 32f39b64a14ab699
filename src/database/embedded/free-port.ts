import { createServer } from 'node:net';

/** Whether no program listens on a port of 127.0.0.1. */
export const isFree = (port: number): Promise<boolean> =>
  freePort(port).then(
    () => true,
    () => false,
  );

/**
 * Finds a port of 127.0.0.1 that no program listens on.
 *
 * @param port the port to try; by default the system chooses.
 * @returns the port.
 * @throws Error when it is not free.
 */
export async function freePort(port = 0): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve, reject) =>
    server.once('error', reject).listen({ port, host: '127.0.0.1', exclusive: true }, resolve),
  );
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address ? address.port : 0;
}
