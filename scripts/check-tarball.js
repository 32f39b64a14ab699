// Checks what a user gets without a checkout: packs the gateway, installs the tarball in an empty folder, measures what that
// takes on disk, starts the gateway by npx, and creates a user group. Prints the sizes; exits with 1 if anything fails.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { lstatSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
/** About twice what it has; the same on every platform, unlike what is installed. */
const maxPackedMB = 9;
const maxInstalledMB = 80;
const installTimeoutMs = 180_000;
const startTimeoutMs = 30_000;
const stopTimeoutMs = 30_000;
const token = 'bootstrap-token-of-the-tarball-check';

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'user-group-gateway-tarball-')));
const app = join(folder, 'app');
try {
  mkdirSync(app);
  writeFileSync(join(app, 'package.json'), '{}'); // or npm installs into the nearest parent folder that has one
  await run(['run', 'package'], root);
  await run(['pack', join(root, 'dist-package'), '--pack-destination', folder], root);
  const tarball = readdirSync(folder).find((name) => name.endsWith('.tgz'));
  if (!tarball) throw new Error('npm pack created no tarball.');
  await run(['install', join(folder, tarball), '--prefer-offline', '--no-audit', '--no-fund'], app);
  const packedMB = statSync(join(folder, tarball)).size / 1e6;
  const installedMB = bytesOnDisk(app) / 1e6;
  process.stdout.write(
    `${packedMB.toFixed(1)} MB packed (at most ${maxPackedMB}), ${installedMB.toFixed(0)} MB installed (at most ${maxInstalledMB})\n`,
  );
  if (packedMB > maxPackedMB) throw new Error('The tarball is too large: see dist-package.');
  if (installedMB > maxInstalledMB) throw new Error(`The installed package is too large; the largest parts:\n${largest(app)}`);
  const readySeconds = await serveOnce();
  process.stdout.write(`first start ready in ${readySeconds.toFixed(1)} s, created a user group\n`);
} catch (error) {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
}

/** Starts the installed gateway, creates a user group, and stops it. @returns seconds until it was ready. */
async function serveOnce() {
  const from = performance.now();
  const settings = { PORT: '0', LOG_FORMAT: 'json', BOOTSTRAP_API_TOKEN: token };
  const gateway = npm(['exec', '--offline', '--', 'user-group-gateway', 'serve'], app, settings);
  try {
    const url = await within(startTimeoutMs, gateway, 'did not start', listening(gateway));
    const ready = await send('GET', `${url}/readyz`);
    if (ready.status !== 200) throw new Error(`GET /readyz responded with ${ready.status}: ${ready.text}`);
    const seconds = (performance.now() - from) / 1000;
    const document = await send('GET', `${url}/openapi.json`);
    if (document.status !== 200) throw new Error(`GET /openapi.json responded with ${document.status}: ${document.text}`);
    const body = JSON.stringify({ user_group_id: 'acme', name: 'ACME' });
    const { status, text } = await send('GET', `${url}/api/user`, body);
    if (status !== 200 || JSON.parse(text).new_user_group !== true)
      throw new Error(`GET /api/user responded with ${status}: ${text}`);
    await stop(gateway);
    return seconds;
  } catch (error) {
    await stop(gateway).catch(() => {}); // also stops PostgreSQL
    throw error;
  }
}

/** @throws Error when it does not stop in time, or not cleanly. */
async function stop(gateway) {
  signal(gateway, 'SIGTERM');
  await within(stopTimeoutMs, gateway, 'did not stop', gateway.ended);
  if (!gateway.output.includes('"stopped"')) throw new Error(`The gateway did not stop cleanly:\n${gateway.output}`);
}

/** Waits for the log line with the address. */
function listening({ child, ended }) {
  return new Promise((resolve, reject) => {
    let text = '';
    child.stderr.on('data', (part) => {
      text += part;
      const [, url] = /listening on (http:[^ "]+)/.exec(text) ?? [];
      if (url) resolve(url);
    });
    ended.then(() => reject(new Error(`The gateway exited before it was ready:\n${text}`)));
  });
}

/** @returns status and text of the response to a request with the API token. */
function send(method, url, body = '') {
  const headers = { authorization: `Token ${token}`, connection: 'close' };
  if (body) Object.assign(headers, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) });
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers, timeout: 10_000 }, async (response) => {
      let text = '';
      for await (const part of response.setEncoding('utf8')) text += part;
      resolve({ status: response.statusCode, text });
    });
    sent.once('error', reject).once('timeout', () => sent.destroy(new Error(`${method} ${url}: no response in 10 s`)));
    sent.end(body);
  });
}

/** Runs npm to its end. @throws Error with its output when it fails. */
async function run(args, cwd) {
  const command = npm(args, cwd);
  const code = await within(installTimeoutMs, command, 'did not end', command.ended);
  if (code !== 0) throw new Error(`npm ${args.join(' ')} failed:\n${command.output}`);
}

/** Starts npm, in its own process group where the platform has them, so that its child processes can be stopped with it. */
function npm(args, cwd, settings = {}) {
  const { PATH, HOME, SystemRoot, APPDATA, LOCALAPPDATA, npm_config_cache, npm_config_registry } = process.env;
  const own = { PATH, HOME, SystemRoot, APPDATA, LOCALAPPDATA, npm_config_cache, npm_config_registry };
  const child = spawn('npm', args, {
    cwd,
    env: { ...Object.fromEntries(Object.entries(own).filter(([, value]) => value !== undefined)), ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: process.platform !== 'win32',
    shell: process.platform === 'win32',
  });
  const command = { child, output: '', ended: once(child, 'close').then(([code]) => code) };
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (command.output += text));
  return command;
}

/** Sends a signal to a command and its child processes, if they are still running. */
function signal({ child }, name) {
  try {
    if (process.platform === 'win32') child.kill(name);
    else process.kill(-child.pid, name);
  } catch (error) {
    if (error.code !== 'ESRCH') throw error;
  }
}

/** The result of `promise`. @throws Error when it takes too long; the command is then killed. */
async function within(milliseconds, command, what, promise) {
  let timer;
  const timeout = new Promise((_, reject) => {
    timer = setTimeout(() => {
      signal(command, 'SIGKILL');
      reject(new Error(`${command.child.spawnargs.join(' ')} ${what} within ${milliseconds / 1000} s:\n${command.output}`));
    }, milliseconds);
  });
  return Promise.race([promise, timeout]).finally(() => clearTimeout(timer));
}

/** The disk usage of the files below a path; where the system does not report it, their length. */
function bytesOnDisk(path) {
  const entries = readdirSync(path, { recursive: true, withFileTypes: true });
  return entries
    .map((entry) => lstatSync(join(entry.parentPath ?? entry.path, entry.name)))
    .reduce((sum, { blocks, size }) => sum + (blocks === undefined ? size : blocks * 512), 0);
}

/** The largest packages of an installation, for the message that it is too large. */
function largest(path) {
  const modules = join(path, 'node_modules');
  const folders = readdirSync(modules).flatMap((name) =>
    name.startsWith('@') ? readdirSync(join(modules, name)).map((part) => `${name}/${part}`) : [name],
  );
  return folders
    .map((name) => ({ name, bytes: statSync(join(modules, name)).isDirectory() ? bytesOnDisk(join(modules, name)) : 0 }))
    .sort((a, b) => b.bytes - a.bytes)
    .slice(0, 8)
    .map(({ name, bytes }) => `  ${(bytes / 1e6).toFixed(1)} MB ${name}`)
    .join('\n');
}
