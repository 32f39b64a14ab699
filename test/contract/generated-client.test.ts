import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const client = readFileSync('src/generated/prisma/internal/class.ts', 'utf8');

/** The text that the generated client has for a setting. */
function readSetting(name: string): unknown {
  const [, text] = new RegExp(`"${name}": ("(?:[^"\\\\]|\\\\.)*")`).exec(client) ?? [];
  return text === undefined ? undefined : JSON.parse(text);
}

test('the committed database client is generated from prisma/schema.prisma (fix: npm run generate)', () => {
  expect(readSetting('inlineSchema')).toBe(readFileSync('prisma/schema.prisma', 'utf8'));
});

test('the committed database client is of the version of the installed runtime (fix: npm run generate)', () => {
  const { version } = JSON.parse(readFileSync('node_modules/@prisma/client/package.json', 'utf8')) as { version: string };
  expect(readSetting('clientVersion')).toBe(version);
  const tools = JSON.parse(readFileSync('tools/package.json', 'utf8')) as { devDependencies: Record<string, string> };
  expect(tools.devDependencies['prisma']).toBe(version);
});
