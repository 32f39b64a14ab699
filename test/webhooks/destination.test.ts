import { expect, test } from 'vitest';
import { checkAddress, checkedLookup, literalAddress, RefusedDestination, type Resolve } from '../../src/webhooks/destination.ts';

test.each([
  ['10.0.0.1', 'private'],
  ['172.16.0.1', 'private'],
  ['192.168.1.1', 'private'],
  ['127.0.0.1', 'loopback'],
  ['169.254.169.254', 'linkLocal'],
  ['100.64.0.1', 'carrierGradeNat'],
  ['0.0.0.0', 'unspecified'],
  ['224.0.0.1', 'multicast'],
  ['255.255.255.255', 'broadcast'],
  ['240.0.0.1', 'reserved'],
  ['192.0.0.192', 'reserved'],
  ['198.18.0.1', 'reserved'],
  ['168.63.129.16', 'cloud'],
  ['::', 'unspecified'],
  ['::1', 'loopback'],
  ['fe80::1', 'linkLocal'],
  ['fec0::1', 'deprecatedSiteLocal'],
  ['fd00:ec2::254', 'uniqueLocal'],
  ['ff02::1', 'multicast'],
  ['::ffff:10.0.0.1', 'ipv4Mapped'],
  ['::ffff:0:127.0.0.1', 'rfc6145'],
  ['::127.0.0.1', 'ipv4Mapped'],
  ['64:ff9b::7f00:1', 'rfc6052'],
  ['2002:7f00:1::', '6to4'],
  ['2001:0:7f00:1::', 'teredo'],
  ['2001:db8::1', 'reserved'],
  ['100::1', 'discard'],
  ['5f00::1', 'segmentRouting'],
  ['4000::1', 'reserved'],
])('refuses %s, which is %s', (address, range) => {
  for (const protocol of ['https:', 'http:'])
    expect(() => checkAddress(address, protocol, [])).toThrow(new RegExp(`is not public \\(${range}\\)`));
});

test.each([
  '1.1.1.1',
  '11.0.0.0',
  '100.128.0.0',
  '128.0.0.0',
  '172.32.0.0',
  '223.255.255.255',
  '2606:4700::1111',
  '2a00:1450:4001:80b::200e',
])('permits %s over https, and not over http', (address) => {
  expect(() => checkAddress(address, 'https:', [])).not.toThrow();
  expect(() => checkAddress(address, 'http:', ['10.0.0.0/8'])).toThrow(/only https/);
});

test('an allowed network may be reached over both, and its neighbors not', () => {
  const networks = ['10.1.0.0/16', 'fd12:3456::/32', '93.184.215.0/24'];
  for (const protocol of ['https:', 'http:']) {
    for (const address of ['10.1.0.1', '10.1.255.255', 'fd12:3456:1::1', '93.184.215.14'])
      expect(() => checkAddress(address, protocol, networks)).not.toThrow();
    for (const address of ['10.2.0.1', '10.0.255.255', 'fd12:3457::1', '::ffff:10.1.0.1', '2002:a01:1::', '64:ff9b::a01:1'])
      expect(() => checkAddress(address, protocol, networks)).toThrow(RefusedDestination);
  }
});

test.each([
  ['https://127.1/', '127.0.0.1'],
  ['https://2130706433/', '127.0.0.1'],
  ['https://0177.0.0.1/', '127.0.0.1'],
  ['https://%31%32%37.0.0.1/', '127.0.0.1'],
  ['https://①②⑦.0.0.1/', '127.0.0.1'],
  ['https://[::ffff:127.0.0.1]/', '::ffff:7f00:1'],
  ['https://localhost/', undefined],
])('finds the address that %s has as its host', (url, address) => {
  expect(literalAddress(new URL(url))).toBe(address);
  if (address) expect(() => checkAddress(address, 'https:', [])).toThrow(RefusedDestination);
});

/** Looks up a name that has these addresses. */
function lookUp(addresses: readonly string[], options: { all?: boolean }, networks: readonly string[] = []): Promise<unknown> {
  const resolve: Resolve = (_, { all }, callback) => {
    expect(all).toBe(true);
    callback(
      null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    );
  };
  return new Promise((settle, reject) => {
    checkedLookup('https:', networks, resolve)('example.com', options, (error, found, family) =>
      error ? reject(error) : settle(options.all ? found : [found, family]),
    );
  });
}

test('every address of a name is checked, and only what was checked is connected to', async () => {
  expect(await lookUp(['1.1.1.1', '2606:4700::1111'], { all: true })).toEqual([
    { address: '1.1.1.1', family: 4 },
    { address: '2606:4700::1111', family: 6 },
  ]);
  expect(await lookUp(['2606:4700::1111', '1.1.1.1'], {})).toEqual(['2606:4700::1111', 6]);
  for (const addresses of [['1.1.1.1', '10.0.0.1'], ['10.0.0.1', '1.1.1.1'], ['1.1.1.1', '::ffff:1.1.1.1'], ['fd00:ec2::254']])
    for (const options of [{}, { all: true }]) await expect(lookUp(addresses, options)).rejects.toThrow(RefusedDestination);
  await expect(lookUp([], { all: true })).rejects.toThrow('example.com has no address.');
});
