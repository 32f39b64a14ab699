import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

/** Imports the text of a module that imports the client by the name of its package. */
export async function importWithClient<Module>(contents: string): Promise<Module> {
  const alias = { 'user-group-gateway-client': fileURLToPath(new URL('../../client/src/index.ts', import.meta.url)) };
  const { outputFiles } = await build({
    stdin: { contents },
    alias,
    bundle: true,
    format: 'esm',
    platform: 'node',
    write: false,
  });
  return import(/* @vite-ignore */ `data:text/javascript,${encodeURIComponent(outputFiles[0]?.text ?? '')}`);
}
