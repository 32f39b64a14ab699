/**
 * The module that the threads run. Run from the sources, as tests and tools do, a thread has to load the compiler first, because
 * loaders of the process do not reach into threads; so the threads never run a compiled file that is out of date.
 */
export function workerEntry(): URL {
  if (!import.meta.url.endsWith('.ts')) return new URL('./worker.js', import.meta.url);
  const compiler = JSON.stringify(import.meta.resolve('tsx/esm/api'));
  const worker = JSON.stringify(new URL('./worker.ts', import.meta.url).href);
  const module = `import { register } from ${compiler}; register(); await import(${worker});`;
  return new URL(`data:text/javascript,${encodeURIComponent(module)}`);
}
