import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { addKey, createKeyFile, followKeyFile, keyFile, readKeyFile } from '../../src/commands/key-file.ts';
import { generateEncryptionKey } from '../../src/encryption/key-texts.ts';

let folder: string;
let file: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'user-group-gateway-keys-'));
  file = keyFile(folder);
});
afterEach(() => rmSync(folder, { recursive: true }));

const lines = () => readFileSync(file, 'utf8').trimEnd().split('\n');
const mode = () => statSync(file).mode & 0o777;

test('is created once, for its owner only, and leaves no other file', () => {
  createKeyFile(file);
  const created = lines();
  expect(created).toHaveLength(1);
  createKeyFile(file);
  expect(lines()).toEqual(created);
  expect(mode()).toBe(0o600);
  expect(readdirSync(folder)).toEqual(['encryption-keys']);
});

test('a key that is added comes first, and the others stay', () => {
  createKeyFile(file);
  const before = lines();
  addKey(file);
  expect(lines().slice(1)).toEqual(before);
  expect(readKeyFile(file)).toHaveLength(2);
  expect(mode()).toBe(0o600);
  expect(readdirSync(folder)).toEqual(['encryption-keys']);
});

test.runIf(process.getuid?.() === 0)('as root, a key that is added leaves the file to its owner, its group and its mode', () => {
  createKeyFile(file);
  chownSync(file, 4_711, 4_712);
  chmodSync(file, 0o640);
  addKey(file);
  const { uid, gid } = statSync(file);
  expect({ uid, gid, mode: mode(), keys: readKeyFile(file).length }).toEqual({ uid: 4_711, gid: 4_712, mode: 0o640, keys: 2 });
});

test.runIf(process.platform !== 'win32')('a key is added to the file that a symbolic link leads to, and the link stays', () => {
  const elsewhere = join(folder, 'elsewhere');
  mkdirSync(elsewhere);
  const target = join(elsewhere, 'keys');
  createKeyFile(target);
  symlinkSync(target, file);
  const { reload } = followKeyFile(file);
  addKey(file);
  expect([lstatSync(file).isSymbolicLink(), readKeyFile(target).length, reload()?.length]).toEqual([true, 2, 2]);
  expect(readdirSync(elsewhere)).toEqual(['keys']);
});

test.each([
  ['a pipe', () => execFileSync('mkfifo', [file])],
  ['larger than 64 KiB', () => writeFileSync(file, `${generateEncryptionKey()}\n`.repeat(1_500))],
])('%s is rejected without reading it', (_, make) => {
  make();
  expect(() => readKeyFile(file)).toThrow('must be a regular file of at most 65536 bytes');
});

test.each([
  [
    'damaged',
    () => `${generateEncryptionKey()}\n${generateEncryptionKey().slice(4)}`,
    /^The file .*encryption-keys must be 32-byte keys/,
  ],
  ['empty', () => '', /contains no key/],
])('a file that is %s is refused, with what is wrong and no key', (_, content, message) => {
  const text = content();
  writeFileSync(file, text);
  expect(() => readKeyFile(file)).toThrow(message);
  const error = (() => {
    try {
      return readKeyFile(file);
    } catch (caught) {
      return String(caught);
    }
  })();
  for (const line of text.split('\n').filter(Boolean)) expect(error).not.toContain(line.slice(0, 10));
});

test('while nothing is known of the file, not even whether it is there, the keys stay', () => {
  createKeyFile(file);
  const { reload } = followKeyFile(file);
  rmSync(file);
  symlinkSync(file, file);
  expect(reload()).toBeUndefined();
});

test('is read again once after each change; while it is damaged or gone, the keys stay', () => {
  createKeyFile(file);
  const problems: unknown[] = [];
  const { keys, reload } = followKeyFile(file, (problem) => problems.push(problem));
  expect(keys).toHaveLength(1);
  expect(reload()).toBeUndefined();
  addKey(file);
  expect(reload()).toHaveLength(2);
  expect(reload()).toBeUndefined();
  const saved = `${file}.saved`;
  renameSync(file, saved);
  expect(reload()).toBeUndefined();
  writeFileSync(file, 'damaged');
  expect(reload()).toBeUndefined();
  renameSync(saved, file);
  expect(reload()).toBeUndefined();
  expect(problems.splice(3)).toEqual([
    new Error(`The file ${file} is missing. Restore it from a backup.`),
    expect.objectContaining({ message: expect.stringMatching(/^The file .* Restore it from a backup\.$/) }),
    undefined,
  ]);
  addKey(file);
  expect(reload()).toHaveLength(3);
  expect(problems).toEqual([undefined, undefined, undefined, undefined]);
});
