import { existsSync, readFileSync } from 'node:fs';

/**
 * The folder of package.json, as a URL that ends with a slash: found from the sources, and from wherever the bundler put this
 * module.
 */
export const packageRoot: URL = findUp(new URL('.', import.meta.url));

function findUp(folder: URL): URL {
  return existsSync(new URL('package.json', folder)) ? folder : findUp(new URL('..', folder));
}

/** The version of the gateway. */
export function readPackageVersion(): string {
  const { version } = JSON.parse(readFileSync(new URL('package.json', packageRoot), 'utf8')) as { version: string };
  return version;
}
