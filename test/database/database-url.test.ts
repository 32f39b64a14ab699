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
  ].map((url) => [url, url, /^must name one server\. .* leads to the primary: HAProxy/] as const),
  ...['sslmod=require', 'connect_timeout=2', 'SSLMODE=require', 'target_session_attrs=read-write', 'port=1', 'ssl=true'].map(
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
  ['a slash in the password', 'postgresql://u:12/pass-word@a/x', /^must be a PostgreSQL URL such as /],
  [
    'a parameter twice',
    'postgresql://u:pass-word@a/x?sslmode=verify-full&sslmode=disable',
    /^has the parameter sslmode twice or/,
  ],
  ['an empty parameter', 'postgresql://u:pass-word@a/x?sslmode=', /^has the parameter sslmode twice or without a value$/],
  ...['sslmode=requir', 'sslmode=allow', 'sslmode=Disable'].map(
    (parameter) =>
      [
        parameter,
        `postgresql://u:pass-word@a/x?${parameter}`,
        /^has an sslmode that is none of disable, prefer, .*, no-verify$/,
      ] as const,
  ),
])('rejects %s, without its password in the message', (_, url, message) => {
  const parse = () => parseDatabaseUrl(url);
  expect(parse).toThrow(message);
  expect(parse).not.toThrow(secret);
});

test.each([
  ['postgresql://u:pass-word@[::1]:1/x?password=pass-word', '[::1]:1/x'],
  ['postgresql://u:p,q@r@a/x', 'a/x'],
  ['postgresql://u:pass-word@a:1/x?host=b', 'b:1/x'],
  ['postgresql:///x?host=/run/postgresql&password=pass-word', '/run/postgresql/x'],
])('messages about %s show the host and the database only', (url, shown) => {
  expect(describeServer(url)).toBe(shown);
});
