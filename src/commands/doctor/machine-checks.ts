import { readFileSync, realpathSync, statfsSync, statSync } from 'node:fs';
import { get } from 'node:http';
import { join, resolve } from 'node:path';
import { clusterOf } from '../../database/bundled.ts';
import { ConfigError } from '../../errors.ts';
import { packageRoot } from '../../package-root.ts';
import { settings } from '../../settings.ts';
import { findEmpty, findMisspelled } from '../context.ts';
import { compareOpenFiles } from '../open-files.ts';
import { listenProblem, tryListening } from '../open-listener.ts';
import { type Check, type CheckContext, describeBytes, failure, type Outcome, ok, skipped, warning } from './check.ts';
import { existingParent } from './data-directory-check.ts';

/** Which settings are set, whether those that belong together agree, and what they name can be read. Invalid ones end before. */
export const checkSettings: Check = async ({ environment, config }) => {
  if (config.persistedOperationsPath) {
    // Only then, because it loads the whole GraphQL schema.
    const { schema } = await import('../../schema.ts');
    const { readPersistedOperations } = await import('../../graphql/persisted.ts');
    try {
      await readPersistedOperations(config, schema);
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

/** Whether there is space for the database to grow. */
export const checkDisk: Check = ({ config: { databaseUrl, dataDir }, freeBytes }) => {
  if (databaseUrl) return skipped('the gateway writes no files with DATABASE_URL; check the disk of the database server there');
  // Each may be a link, or where another disk is mounted.
  const used = [resolve(dataDir), clusterOf(dataDir), join(clusterOf(dataDir), 'pg_wal')];
  const folders = onePerDisk(used.map((folder) => realpathSync(existingParent(folder))));
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

/** The first folder of each file system. */
const onePerDisk = (folders: readonly string[]): string[] => [
  ...new Map(folders.toReversed().map((folder) => [statSync(folder).dev, folder])).values(),
];

/** Whether the system permits as many connections as a gateway accepts. */
export const checkOpenFiles: Check = ({ config: { poolSize }, maxOpenFiles }) => {
  const { limit, needed, problem } = compareOpenFiles(poolSize, maxOpenFiles);
  if (problem) return warning(problem.found, problem.remedy);
  if (limit === undefined) return skipped('this system has no such limit');
  return ok(`the system permits ${limit}; a gateway may need ${needed}`);
};

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
