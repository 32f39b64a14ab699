import { expect, test } from 'vitest';
import { describeServers, maxHosts, parseDatabaseUrl } from '../../src/database/database-url.ts';
import { discoverPrimary } from '../../src/database/primary-discovery.ts';

const hosts = (count: number) => Array.from({ length: count }, (_, index) => `db${index}`).join(',');

test.each([
  ['one host', 'postgresql://u:p@db/x', ['postgresql://u:p@db/x'], 'primary', 2_000],
  ['the other scheme', 'postgres://db:5433/x', ['postgres://db:5433/x'], 'primary', 2_000],
  [
    'several hosts',
    'postgresql://u:p@a:5432,b:5433/x',
    ['postgresql://u:p@a:5432/x', 'postgresql://u:p@b:5433/x'],
    'read-write',
    2_000,
  ],
  ['ports of some', 'postgresql://a,b:5433/x', ['postgresql://a/x', 'postgresql://b:5433/x'], 'read-write', 2_000],
  ['IPv6', 'postgresql://[::1],[fe80::1]:5433/x', ['postgresql://[::1]/x', 'postgresql://[fe80::1]:5433/x'], 'read-write', 2_000],
  [
    'percent-encoded characters, a comma and an @ in the password',
    'postgresql://u%40v:p%2Cq,r@s@a,b/x%2Fy',
    ['postgresql://u%40v:p%2Cq,r@s@a/x%2Fy', 'postgresql://u%40v:p%2Cq,r@s@b/x%2Fy'],
    'read-write',
    2_000,
  ],
  [
    'parameters',
    'postgresql://a,b/x?target_session_attrs=primary&connect_timeout=4',
    [
      'postgresql://a/x?target_session_attrs=primary&connect_timeout=4',
      'postgresql://b/x?target_session_attrs=primary&connect_timeout=4',
    ],
    'primary',
    4_000,
  ],
  [
    'no path',
    'postgresql://a,b?connect_timeout=1',
    ['postgresql://a?connect_timeout=1', 'postgresql://b?connect_timeout=1'],
    'read-write',
    1_000,
  ],
  [
    'read-write of one host',
    'postgresql://a/x?target_session_attrs=read-write',
    ['postgresql://a/x?target_session_attrs=read-write'],
    'read-write',
    2_000,
  ],
])('a URL with %s', (_, url, serverUrls, target, connectTimeoutMs) => {
  expect(parseDatabaseUrl(url)).toEqual({ serverUrls, target, connectTimeoutMs });
});

const secret = 'pass-word';

test.each<readonly [string, string, RegExp]>([
  ['another scheme', 'mysql://u:pass-word@a/x', /^must be a PostgreSQL URL such as /],
  ['a fragment', 'postgresql://u:12#pass-word@a,b/x', /^must be a PostgreSQL URL such as /],
  ['an empty host among several', 'postgresql://u:pass-word@a,,b/x', /^must be a PostgreSQL URL such as /],
  ['a port without a host among several', 'postgresql://u:pass-word@a,:5433/x', /^must be a PostgreSQL URL such as /],
  ['a comma at the end', 'postgresql://u:pass-word@a,/x', /^must be a PostgreSQL URL such as /],
  ['a port out of range', 'postgresql://u:pass-word@a:5432,b:70000/x', /^must be a PostgreSQL URL such as /],
  ['IPv6 without brackets', 'postgresql://u:pass-word@a,::1/x', /^must be a PostgreSQL URL such as /],
  ['too many hosts', `postgresql://u:pass-word@${hosts(maxHosts + 1)}/x`, /^must name at most 8 hosts$/],
  ['very many hosts', `postgresql://u:pass-word@${hosts(1_000_000)}/x`, /^must name at most 8 hosts$/],
  ['several hosts as a parameter', 'postgresql:///x?host=a,b&password=pass-word', /^must name several hosts before the database/],
  ['a host beside several', 'postgresql://u:pass-word@a,b/x?host=c', /^must name several hosts before the database/],
  ...[
    'sslmod=require',
    'SSLMODE=require',
    'channel_binding=require',
    'require_auth=none',
    'gssencmode=require',
    'schema=foo',
    'hostaddr=127.0.0.1',
    'client_encoding=latin1',
    'constructor=1',
  ].map(
    (parameter) =>
      [
        parameter,
        `postgresql://u:pass-word@a/x?connect_timeout=2&${parameter}`,
        new RegExp(
          `^has the parameter ${parameter.split('=')[0]}, which the gateway does not support; it supports host, .*, sslmode,`,
        ),
      ] as const,
  ),
  ['a question mark in the password', 'postgresql://u:12?pass-word@a/x', /^must be a PostgreSQL URL such as /],
  ['a parameter twice', 'postgresql://u:pass-word@a/x?sslmode=verify-full&sslmode=disable', /^has the parameter sslmode twice$/],
  ['an empty parameter', 'postgresql://u:pass-word@a/x?sslmode=', /^has the parameter sslmode without a value$/],
  ['two ways to say the same', 'postgresql://u:pass-word@a/x?ssl=true&sslmode=disable', /^has ssl and sslmode; give it one of/],
  ...['sslmode=requir', 'sslmode=allow', 'sslmode=Disable', 'ssl=yes', 'ssl=false', 'sslnegotiation=tls', 'uselibpqcompat=1'].map(
    (parameter) => {
      const [name] = parameter.split('=');
      const message = new RegExp(`^has a ${name} that is none of [a-z0-9-]+(?:, [a-z0-9-]+)+$`);
      return [parameter, `postgresql://u:pass-word@a/x?${parameter}`, message] as const;
    },
  ),
  ...['5432x', '5432.9', '0', '65536', '-1', '0x10', '1e3', ' 1'].map(
    (port) =>
      [`port=${port}`, `postgresql://u:pass-word@a/x?port=${port}`, /^has a port that is not a number from 1 to 65535$/] as const,
  ),
  [
    'a misspelled sslmode',
    'postgresql://u:pass-word@a/x?sslmode=requir',
    /none of disable, prefer, require, verify-ca, verify-full, no-verify$/,
  ],
  ...['any', 'read-only', 'standby', 'prefer-standby', ''].map(
    (value) =>
      [
        `target_session_attrs=${value}`,
        `postgresql://u:pass-word@a,b/x?target_session_attrs=${value}`,
        /a standby takes no writes/,
      ] as const,
  ),
  ...['0', '5', '-1', '1e0', '2s', ''].map(
    (value) =>
      [`connect_timeout=${value}`, `postgresql://u:pass-word@a,b/x?connect_timeout=${value}`, /from 1 to 4 seconds$/] as const,
  ),
])('rejects %s, without its password in the message', (_, url, message) => {
  const parse = () => parseDatabaseUrl(url);
  expect(parse).toThrow(message);
  expect(parse).not.toThrow(secret);
});

test.each([
  ['postgresql://u:pass-word@a:1,[::1],b/x?password=pass-word', 'a:1,[::1],b/x'],
  ['postgresql://u:pass-word@a:1/x?host=b&port=2', 'b:2/x'],
  ['postgresql://u:pass-word@a:1/x?host=b', 'b:1/x'],
  ['postgresql:///x?host=/run/postgresql&password=pass-word', '/run/postgresql/x'],
])('messages about %s show the hosts and the database only', (url, shown) => {
  expect(describeServers(url)).toBe(shown);
});

test('when no server can be reached, the error says why, by server', async () => {
  const discovery = discoverPrimary(parseDatabaseUrl('postgresql://u:pass-word@127.0.0.1:1,[::1]:1/x'));
  const error = await discovery.find().catch((reason: Error) => reason);
  expect((error as Error).message).toMatch(
    /^no server takes writes \(127\.0\.0\.1:1: .*; ::1:1: .*\)$|::1:1: .*; 127\.0\.0\.1:1: /,
  );
  expect((error as Error).message).not.toContain(secret);
  discovery.close();
});
