import { fileURLToPath } from 'node:url';
import { packageRoot } from '../package-root.ts';

/** A module of a thread, and the options of Node.js that it is loaded with. */
export interface ThreadModule {
  readonly filename: string;
  readonly execArgv: string[];
}

/**
 * The module that the threads run. When the process runs the sources, as tests and tools do, the thread registers the
 * compiler too; it never runs an outdated compiled file.
 */
export function workerModule(): ThreadModule {
  if (!import.meta.url.endsWith('.ts'))
    return { filename: fileURLToPath(new URL('dist/docs-config-pool/worker.js', packageRoot)), execArgv: [] };
  return { filename: fileURLToPath(new URL('./worker.ts', import.meta.url)), execArgv: ['--import', import.meta.resolve('tsx')] };
}
