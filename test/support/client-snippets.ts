import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

/** The URL of a module that imports the client by the name of its package. */
export async function bundleWithClient(contents: string): Promise<string> {
  const alias = { 'user-group-gateway-client': fileURLToPath(new URL('../../client/src/index.ts', import.meta.url)) };
  const { outputFiles } = await build({
    stdin: { contents },
    alias,
    external: ['node:*'],
    bundle: true,
    format: 'esm',
    platform: 'neutral',
    write: false,
  });
  return `data:text/javascript,${encodeURIComponent(outputFiles[0]?.text ?? '')}`;
}

/** Imports a module that imports the client by the name of its package. */
export const importWithClient = async <Module>(contents: string): Promise<Module> =>
  import(/* @vite-ignore */ await bundleWithClient(contents));
