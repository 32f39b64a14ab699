import { expect, test } from 'vitest';
import { describeServer, parseDatabaseUrl } from '../../src/database/database-url.ts';

const secret = 'pass-word';

test.each<readonly [string, string, RegExp]>([
  ['another scheme', 'mysql://u:pass-word@a/x', /^must be a PostgreSQL URL such as /],
  ['a fragment', 'postgresql://u:12#pass-word@a/x', /^must be a PostgreSQL URL such as /],
  ['a port out of range', 'postgresql://u:pass-word@a:70000/x', /^must be a PostgreSQL URL such as /],
  ['IPv6 without brackets', 'postgresql://u:pass-word@::1/x', /^must be a PostgreSQL URL such as /],
  ...[
    'postgresql://u:pass-word@a,b/x',
    'postgresql://u:pass-word@a:5432,b:5433/x',
    'postgresql://u:pass-word@a,/x',
    'postgresql:///x?host=a,b&password=pass-word',
    'postgresql://u:pass-word@a/x?target_session_attrs=read-write',
    'postgresql://u:pass-word@a/x?load_balance_hosts=random',
  ].map((url) => [url, url, /^must name one server\. .* leads to the primary: HAProxy/] as const),
  ...[
    'sslmod=require',
    'connect_timeout=2',
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
        `postgresql://u:pass-word@a/x?${parameter}`,
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
])('rejects %s, without its password in the message', (_, url, message) => {
  const parse = () => parseDatabaseUrl(url);
  expect(parse).toThrow(message);
  expect(parse).not.toThrow(secret);
});

test.each([
  ['postgresql://u:pass-word@[::1]:1/x?password=pass-word', '[::1]:1/x'],
  ['postgresql://u:p,q@r@a/x', 'a/x'],
  ['postgresql://u:pass-word@a:1/x?host=b&port=2', 'b:2/x'],
  ['postgresql://u:pass-word@a:1/x?host=b', 'b:1/x'],
  ['postgresql:///x?host=/run/postgresql&password=pass-word', '/run/postgresql/x'],
])('messages about %s show the host and the database only', (url, shown) => {
  expect(describeServer(url)).toBe(shown);
});
