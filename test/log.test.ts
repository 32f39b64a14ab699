import { spawnSync } from 'node:child_process';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { logForm } from '../src/log.ts';
import { tokenPrefixes } from '../src/token-prefixes.ts';
import { issueToken } from '../src/tokens.ts';

/** What the log has of an error. */
function logged(error: Error): { type: string; code?: string; message: string; stack: string } {
  const lines: string[] = [];
  pino(logForm, { write: (line: string) => void lines.push(line) }).error({ err: error }, 'failed');
  return JSON.parse(lines.join('')).err;
}

test('an error is logged with its whole message and stack, and without tokens', () => {
  const token = issueToken('userGroup');
  const error = Object.assign(new TypeError(`first line ${token}\nsecond line`), { code: 'E1', detail: 'a stored value' });
  const { message, stack, ...rest } = logged(error);
  expect(rest).toEqual({ type: 'TypeError', code: 'E1' });
  expect(message).toBe(`first line ${tokenPrefixes.userGroup}…\nsecond line`);
  expect(stack).toContain(`TypeError: first line ${tokenPrefixes.userGroup}…\nsecond line\n    at `);
});

test('of an error of Prisma only the code and the frames are logged: the message may have values', () => {
  const error = Object.assign(new Error('Invalid call:\n{ name: "a stored value" }\n'), { code: '23505' });
  error.name = 'PrismaClientKnownRequestError';
  const { stack, ...rest } = logged(error);
  expect(rest).toEqual({ type: 'PrismaClientKnownRequestError', code: '23505' });
  expect(stack).toMatch(/^ {4}at .*log\.test\.ts/);
  expect(stack).not.toContain('a stored value');
});

/** What the log writes of texts with control characters. */
function writeControls(logFormat: string): string {
  const program = `import { openLog } from './src/log.ts';
    const text = 'a\\\\u\u001b[8m\u009b\u202e\\r';
    openLog({ logLevel: 'info', logFormat: '${logFormat}' }, process.stderr).info({ path: text, inner: { text }, err: new Error(text) }, text);`;
  const args = ['--import', 'tsx', '--input-type=module', '-e', program];
  return spawnSync(process.execPath, args, { encoding: 'utf8' }).stderr;
}

test('the log as JSON has control characters as escapes, which mean the same', () => {
  const stderr = writeControls('json');
  expect(stderr.match(/[^\n\P{Cc}]|[\u202a-\u202e]/gu)).toBeNull();
  expect(JSON.parse(stderr)).toMatchObject({ msg: 'a\\u\u001b[8m\u009b\u202e\r' });
});

test('the log for people shows control characters as escapes, and keeps the lines of a stack', () => {
  const stderr = writeControls('pretty');
  const shown = 'a\\u\\u001b[8m\\u009b\\u202e\\r';
  expect(stderr.match(/[^\n\P{Cc}]|[\u202a-\u202e]/gu)).toBeNull();
  expect(stderr.split(shown)).toHaveLength(5); // in each field, and in the message and the stack
  expect(stderr).toMatch(/\n {4,}at /);
});
