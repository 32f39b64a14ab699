import { packageRoot } from '../package-root.ts';

/**
 * The module that the threads run. When the process runs the sources, as tests and tools do, the thread registers the
 * compiler too, because threads do not inherit loaders; it never runs an outdated compiled file.
 */
export function workerEntry(): URL {
  if (!import.meta.url.endsWith('.ts')) return new URL('dist/docs-config-pool/worker.js', packageRoot);
  const compiler = JSON.stringify(import.meta.resolve('tsx/esm/api'));
  const worker = JSON.stringify(new URL('./worker.ts', import.meta.url).href);
  const module = `import { register } from ${compiler}; register(); await import(${worker});`;
  return new URL(`data:text/javascript,${encodeURIComponent(module)}`);
}
