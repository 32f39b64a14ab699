import { accessSync, constants, existsSync, readFileSync, statfsSync, statSync } from 'node:fs';
import { get } from 'node:http';
import { dirname, join, resolve } from 'node:path';
import { bundledMajor } from '../../database/embedded/binaries.ts';
import { findLoss } from '../../database/embedded/cluster.ts';
import { findEmbedded } from '../../database/embedded/embedded.ts';
import { type Layout, UncertainDatabase } from '../../database/embedded/layout.ts';
import { readPassword } from '../../database/embedded/password.ts';
import { packageRoot } from '../../package-root.ts';
import { ConfigError, settings } from '../../settings.ts';
import { findEmpty, findMisspelled } from '../context.ts';
import { compareOpenFiles } from '../open-files.ts';
import { listenProblem, tryListening } from '../open-listener.ts';
import { type Check, type CheckContext, describeBytes, failure, type Outcome, ok, skipped, warning } from './check.ts';

/** Which settings are set, whether those that belong together agree, and what they name can be read. Invalid ones end before. */
export const checkSettings: Check = async ({ environment, config }) => {
  if (config.persistedOperationsPath) {
    // Only then, because it loads the whole GraphQL schema.
    const { readPersistedOperations } = await import('../persisted-operations-files.ts');
    try {
      await readPersistedOperations(config);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      return failure(error.problems.join('; '), 'Correct the files or the setting: nothing starts with them.');
    }
  }
  const names = Object.values(settings)
    .map(({ name }) => name)
    .filter((name) => environment[name]);
  const found = names.length === 0 ? 'valid; all have their defaults' : `valid; set: ${names.join(', ')}`;
  const misspelled = findMisspelled(environment);
  if (misspelled.length > 0) return warning(`${found}; ${misspelled.join('; ')}`, 'Correct the name, or remove the variable.');
  const empty = findEmpty(environment);
  if (empty.length > 0) return warning(`${found}; ${empty.join('; ')}`, 'Give it a value, or remove the variable.');
  const isLocal = ['127.0.0.1', 'localhost', '::1'].includes(config.host);
  if (!isLocal && !config.publicUrl)
    return warning(
      `${found}; clients on other machines can connect, and PUBLIC_URL is not set`,
      'Set PUBLIC_URL to the URL that clients use: it is the issuer of embed tokens.',
    );
  return ok(found);
};

/** Whether this version of Node.js is supported. */
export const checkNode: Check = ({ nodeVersion }) => {
  const { engines } = JSON.parse(readFileSync(new URL('package.json', packageRoot), 'utf8')) as { engines: { node: string } };
  return isSupported(nodeVersion, engines.node)
    ? ok(`Node.js ${nodeVersion}`)
    : failure(`Node.js ${nodeVersion} is not supported`, `Install a version that satisfies ${engines.node}.`);
};

/** Whether a version satisfies one of several ranges, each `^a.b.c` or `>=a.b.c`. */
function isSupported(version: string, ranges: string): boolean {
  const numbers = (text: string) => text.replace(/^\D+/, '').split('.').map(Number) as [number, number, number];
  const [major, minor, patch] = numbers(version);
  return ranges.split('||').some((range) => {
    const [minMajor, minMinor, minPatch] = numbers(range.trim());
    if (major !== minMajor) return major > minMajor && range.includes('>=');
    return minor > minMinor || (minor === minMinor && patch >= minPatch);
  });
}

/** Whether `DATA_DIR` can be used, and only by its owner. */
export const checkDataDirectory: Check = ({ config: { databaseUrl, dataDir } }) => {
  if (databaseUrl) return skipped('DATABASE_URL is set, so that DATA_DIR is not used');
  let embedded: ReturnType<typeof findEmbedded>;
  try {
    embedded = findEmbedded(dataDir);
  } catch (error) {
    if (error instanceof UncertainDatabase) return failure(error.found, error.remedy);
    throw error;
  }
  const path = resolve(dataDir);
  const wrongVersion = requireBundled(embedded?.major);
  if (wrongVersion) return wrongVersion;
  const writable = embedded ? embedded.layout.dataDir : existingParent(path);
  if (!isWritable(writable))
    return failure(
      `${writable} is not writable`,
      'Make the user that runs the gateway its owner, or set DATA_DIR to another folder.',
    );
  const refused = embedded && describeRefusal(embedded.layout);
  if (refused) return refused;
  const lost = embedded && findLoss(embedded.layout);
  if (lost) return failure(lost.found, lost.remedy);
  if (!embedded?.major) return ok(`${path} has no database yet: the first start creates it`);
  try {
    readPassword(embedded.layout);
  } catch (error) {
    return failure(
      `${(error as Error).message.replace(/\.$/, '')}: the data cannot be opened without it`,
      'Restore the file from a backup; the message of a start says what to do without one.',
    );
  }
  const open = describeMode(embedded.passwordFile);
  if (open) return warning(open, `Run: chmod 600 ${embedded.passwordFile}`);
  const { server } = embedded;
  const state = server ? `runs (process ${server.pid}, port ${server.port})` : 'does not run';
  return ok(`${path}: PostgreSQL ${embedded.major} ${state}`);
};

/** Whether the bundled PostgreSQL can start on its data. */
function requireBundled(major: string | undefined): Outcome | undefined {
  const bundled = bundledMajor();
  if (major === undefined || major === bundled) return undefined;
  return failure(
    `the data is of PostgreSQL ${major}, and this gateway bundles PostgreSQL ${bundled}`,
    `Start it with the gateway version that created it, dump the database with pg_dump ${major}, and restore the dump into a new DATA_DIR.`,
  );
}

/** Of what PostgreSQL does not start without, what has been seen to be missing. */
const requiredFiles = ['PG_VERSION', 'global/pg_control', 'postgresql.conf', 'pg_hba.conf', 'pg_wal', 'base'];

/** Why PostgreSQL would not start on its data directory; undefined if it would, or there is none. */
function describeRefusal({ cluster, user }: Layout): Outcome | undefined {
  const found = statSync(cluster, { throwIfNoEntry: false });
  if (!found) return undefined;
  // In this order: what is in it can be seen only by its owner, and with this mode.
  const outcome = describeOwner(cluster, user) ?? describeModeOf(cluster, found.mode);
  if (outcome) return outcome;
  const missing = requiredFiles.find((name) => !existsSync(join(cluster, name)));
  if (missing === undefined) return describeOwner(cluster, user, 'base');
  const text = `${join(cluster, missing)} is missing, without which PostgreSQL does not start`;
  return failure(text, 'Restore a backup into another DATA_DIR.');
}

/** Says that a file of the data directory, or itself, is another user's; undefined if not, or the system has no such owners. */
function describeOwner(cluster: string, user: Layout['user'], name = '.'): Outcome | undefined {
  const own = user ?? { uid: process.geteuid?.(), gid: process.getegid?.() };
  const path = join(cluster, name);
  if (process.platform === 'win32' || statSync(path).uid === own.uid) return undefined;
  return failure(
    `${path} belongs to another user than the one that runs PostgreSQL`,
    `As root, run: chown -R ${own.uid}:${own.gid} ${cluster}`,
  );
}

function describeModeOf(cluster: string, mode: number): Outcome | undefined {
  if (process.platform === 'win32' || ((mode & 0o700) === 0o700 && (mode & 0o027) === 0)) return undefined;
  return failure(
    `${cluster} has mode ${(mode & 0o777).toString(8)}, with which PostgreSQL does not start`,
    `Run: chmod 700 ${cluster}`,
  );
}

/** Whether there is space for the database to grow. */
export const checkDisk: Check = ({ config: { databaseUrl, dataDir }, freeBytes }) => {
  if (databaseUrl) return skipped('the gateway writes no files with DATABASE_URL; check the disk of the database server there');
  const layout = findEmbedded(dataDir)?.layout;
  const folders = layout ? [...new Set([layout.dataDir, layout.home])] : [existingParent(resolve(dataDir))];
  const found = folders.map((folder) => {
    const { bavail, bsize, files, ffree } = statfsSync(folder);
    return { folder, free: bavail * bsize, hasFiles: files === 0 || ffree > 1_000 };
  });
  const text = found.map(({ folder, free }) => `${describeBytes(free)} free at ${folder}`).join(', ');
  const full = found.find(({ hasFiles }) => !hasFiles);
  if (full) return failure(`${text}, and hardly any inodes`, 'Delete files there, or move DATA_DIR to another file system.');
  const free = Math.min(...found.map((each) => each.free));
  const remedy = 'Free space there, or move DATA_DIR to another file system: without space, every write fails.';
  if (free < freeBytes.failure) return failure(text, remedy);
  return free < freeBytes.warning ? warning(text, remedy) : ok(text);
};

/** Whether the system permits as many connections as a gateway accepts. */
export const checkOpenFiles: Check = ({ config: { poolSize }, maxOpenFiles }) => {
  const { limit, needed, problem } = compareOpenFiles(poolSize, maxOpenFiles);
  if (problem) return warning(problem.found, problem.remedy);
  if (limit === undefined) return skipped('this system has no such limit');
  return ok(`the system permits ${limit}; a gateway may need ${needed}`);
};

/** The folder itself, or the nearest one above that exists. */
function existingParent(path: string): string {
  return existsSync(path) ? path : existingParent(dirname(path));
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK | constants.X_OK);
    return statSync(folder).isDirectory();
  } catch {
    return false;
  }
}

/** Says that others than the owner can read or write a file; undefined if none can, or the system has no such modes. */
export function describeMode(file: string): string | undefined {
  const mode = statSync(file).mode & 0o777;
  if (process.platform === 'win32' || (mode & 0o077) === 0) return undefined;
  return `${file} can be used by others than its owner (mode ${mode.toString(8)})`;
}

/** How long the program at the port may take to respond. */
const responseTimeoutMs = 2_000;

/** The most of a response that is read. */
const maxResponseCharacters = 1_000;

/** Whether `serve` can listen, or already does. */
export async function checkPort({ config: { host, port } }: CheckContext): Promise<Outcome> {
  if (port === 0) return ok('the system chooses one');
  const place = `${host}:${port}`;
  const user = await identify(host, port);
  if (user === 'a gateway') return ok(`a gateway listens on ${place}; another one needs another PORT`);
  if (user === 'another program')
    return failure(`another program listens on ${place}`, 'Stop that program, or set PORT to a free port.');
  const problem = await tryListening(host, port);
  if (!problem) return ok(`${place} is free`);
  const [found = '', ...remedy] = listenProblem(problem).split(/(?<=[.;]) /);
  return failure(`cannot listen on ${place}: ${found}`, remedy.join(' '));
}

/** What accepts connections at a port. */
function identify(host: string, port: number): Promise<'a gateway' | 'another program' | 'nothing'> {
  const reachable = { '0.0.0.0': '127.0.0.1', '::': '::1' }[host] ?? host;
  return new Promise((resolve) => {
    let connected = false;
    let responded = false;
    const request = get({ host: reachable, port, path: '/livez', agent: false }, (response) => {
      responded = true;
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => {
        text += part;
        if (text.length > maxResponseCharacters) response.destroy();
      });
      response.once('close', () => resolve(text.includes('"status":"alive"') ? 'a gateway' : 'another program'));
    });
    request.once('socket', (socket) => {
      socket.once('connect', () => {
        connected = true;
      });
    });
    const deadline = setTimeout(() => request.destroy(), responseTimeoutMs);
    request.once('error', () => {}); // followed by 'close'
    request.once('close', () => {
      clearTimeout(deadline);
      if (!responded) resolve(connected ? 'another program' : 'nothing');
    });
  });
}
