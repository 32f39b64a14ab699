import { once } from 'node:events';
import {
  type AddressInfo,
  createServer,
  getDefaultAutoSelectFamily,
  type LookupFunction,
  setDefaultAutoSelectFamily,
} from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { createHostLookup, type FindAddresses, socketsWith } from '../../src/database/failover-client.ts';

const local = [{ address: '127.0.0.1', family: 4 }];
const never = new Promise<never>(() => {});

/** What a look-up finds, as Node.js asks for it when it connects. */
const addressesOf = (lookup: LookupFunction, name: string): Promise<unknown> =>
  new Promise((resolve, reject) => {
    lookup(name, { all: true }, (error, found) => (error ? reject(error) : resolve(found)));
  });

test('a name that is not found for long is looked up once at a time, however often it is needed', async () => {
  const asked: string[] = [];
  const lookup = createHostLookup((name) => {
    asked.push(name);
    return name === 'slow' ? never : Promise.resolve(local);
  });
  for (let attempt = 0; attempt < 100; attempt += 1) void addressesOf(lookup, 'slow');
  expect(await addressesOf(lookup, 'quick')).toEqual(local);
  expect(asked).toEqual(['slow', 'quick']);
});

test('a name is looked up again each time, and its last addresses are used when that takes long', async () => {
  const results: ReturnType<FindAddresses>[] = [
    Promise.resolve(local),
    Promise.resolve([{ address: '127.0.0.2', family: 4 }]),
    never,
  ];
  const lookup = createHostLookup(() => results.shift() ?? never);
  expect(await addressesOf(lookup, 'db')).toEqual(local);
  expect(await addressesOf(lookup, 'db')).toEqual([{ address: '127.0.0.2', family: 4 }]);
  expect(await addressesOf(lookup, 'db')).toEqual([{ address: '127.0.0.2', family: 4 }]);
});

test('the last addresses of a name are used when the name server fails, and not when it says that there is no such name', async () => {
  const failure = (code: string) => Promise.reject(Object.assign(new Error(code), { code }));
  const results = [() => Promise.resolve(local), () => failure('EAI_AGAIN'), () => failure('ENOTFOUND')];
  const lookup = createHostLookup(() => results.shift()?.() ?? never);
  expect(await addressesOf(lookup, 'db')).toEqual(local);
  expect(await addressesOf(lookup, 'db')).toEqual(local);
  await expect(addressesOf(lookup, 'db')).rejects.toThrow('ENOTFOUND');
});

test('a failure is reported, and the next look-up asks again', async () => {
  const results = [Promise.reject(Object.assign(new Error('no such name'), { code: 'ENOTFOUND' })), Promise.resolve(local)];
  const lookup = createHostLookup(() => results.shift() ?? never);
  await expect(addressesOf(lookup, 'db')).rejects.toThrow('no such name');
  expect(await addressesOf(lookup, 'db')).toEqual(local);
});

test.each([true, false])('sockets connect to what is found, whether Node.js tries every address (%s)', async (every) => {
  const before = getDefaultAutoSelectFamily();
  setDefaultAutoSelectFamily(every);
  onTestFinished(() => setDefaultAutoSelectFamily(before));
  const server = createServer((socket) => socket.on('error', () => {}).end()).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const socket = socketsWith(createHostLookup(() => Promise.resolve(local)))();
  socket.connect(port, 'db.invalid');
  await once(socket, 'connect');
  expect(socket.remoteAddress).toBe('127.0.0.1');
  socket.destroy();
});
