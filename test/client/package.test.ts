import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { expect, onTestFinished, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const run = promisify(execFile);

test('the client is small, imports nothing, and can be used in part', async () => {
  const bundle = async (contents: string) => {
    const stdin = { contents, resolveDir: join(root, 'client/src') };
    const options = { bundle: true, minify: true, format: 'esm', platform: 'neutral', write: false, metafile: true } as const;
    const { metafile, outputFiles } = await build({ stdin, ...options });
    expect(Object.values(metafile.outputs).flatMap(({ imports }) => imports)).toEqual([]);
    return gzipSync(outputFiles[0]?.contents ?? '').length;
  };
  expect(await bundle("export * from './index.ts'")).toBeLessThanOrEqual(12 * 1_024);
  // What a page needs has none of the operations.
  expect(await bundle("export { createEmbedTokenProvider } from './index.ts'")).toBeLessThanOrEqual(2 * 1_024);
});

test('what is published runs in Node.js and has types', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'user-group-gateway-client-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const installed = join(folder, 'node_modules/user-group-gateway-client');
  mkdirSync(installed, { recursive: true });
  writeFileSync(join(installed, 'package.json'), readFileSync(join(root, 'client/package.json')));
  cpSync(join(root, 'client/dist'), join(installed, 'dist'), { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  writeFileSync(
    join(folder, 'user.ts'),
    `import { createEmbedTokenProvider, type GatewayError, UserGroupGateway } from 'user-group-gateway-client';
     const gateway = new UserGroupGateway({ url: 'http://127.0.0.1:9', apiToken: 'unused-api-token', retries: 0 });
     export const created: Promise<boolean> = gateway.userGroups.getOrCreate({ providedId: 'acme' }).then(({ created }) => created);
     // @ts-expect-error a number is no id
     gateway.userGroups.getOrCreate({ providedId: 5 }).catch(() => {});
     createEmbedTokenProvider(() => gateway.embedTokens.create({ by: { teamId: 1 } }));
     created.catch(({ code }: GatewayError) => console.log(code));`,
  );
  const options = {
    target: 'es2022',
    lib: ['es2022', 'dom'],
    types: [],
    strict: true,
    module: 'nodenext',
    rootDir: '.',
    outDir: 'out',
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: options, files: ['user.ts'] }));
  await run(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', folder]);
  expect((await run(process.execPath, [join(folder, 'out/user.js')])).stdout).toBe('NETWORK\n');
});
