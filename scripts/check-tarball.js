// Checks what a user gets without a checkout: packs the gateway, installs the tarball in an empty folder, measures what that
// takes on disk, starts the gateway by npx, and creates a user group. Prints the sizes; exits with 1 if anything fails.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { lstatSync, mkdtempSync, readdirSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** About twice what it has; the same on every platform, unlike what is installed. */
const maxPackedMB = 9;
const maxInstalledMB = 80;
const timeoutMs = 180_000;
const token = 'bootstrap-token-of-the-tarball-check';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'user-group-gateway-tarball-')));
const npm = (args, cwd) =>
  execFileSync('npm', args, { cwd, stdio: 'pipe', timeout: timeoutMs, shell: process.platform === 'win32' });
try {
  npm(['run', 'package'], root);
  npm(['pack', join(root, 'dist-package'), '--pack-destination', folder], root);
  const tarball = readdirSync(folder)[0];
  const packedMB = statSync(join(folder, tarball)).size / 1e6;
  writeFileSync(join(folder, 'package.json'), '{}'); // or npm installs into the nearest parent folder that has one
  npm(['install', join(folder, tarball), '--prefer-offline', '--no-audit', '--no-fund'], folder);
  rmSync(join(folder, tarball));
  const files = readdirSync(folder, { recursive: true }).map((name) => lstatSync(join(folder, name)));
  const installedMB = files.reduce((sum, { blocks, size }) => sum + (blocks === undefined ? size : blocks * 512), 0) / 1e6;
  process.stdout.write(
    `${packedMB.toFixed(1)} MB packed (at most ${maxPackedMB}), ${installedMB.toFixed(0)} MB installed (at most ${maxInstalledMB})\n`,
  );
  if (packedMB > maxPackedMB || installedMB > maxInstalledMB) throw new Error('The package is too large.');
  await serveOnce();
} catch (error) {
  process.stderr.write(`${error.message}\n${error.stderr ?? ''}`);
  process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
}

/** Starts the installed gateway, creates a user group, and stops it. */
async function serveOnce() {
  const startedAt = performance.now();
  const { PATH, HOME } = process.env;
  // In a process group of its own, so that a signal reaches the gateway below npm.
  const child = spawn('npm', ['exec', '--offline', '--', 'user-group-gateway', 'serve'], {
    cwd: folder,
    env: { PATH, HOME, PORT: '0', LOG_FORMAT: 'json', BOOTSTRAP_API_TOKEN: token },
    stdio: ['ignore', 'ignore', 'pipe'],
    detached: true,
  });
  const closed = once(child, 'close');
  const late = setTimeout(() => process.kill(-child.pid, 'SIGKILL'), timeoutMs);
  let log = '';
  try {
    const url = await new Promise((resolve, reject) => {
      child.stderr.setEncoding('utf8').on('data', (text) => {
        log += text;
        const [, address] = /listening on (http:[^ "]+)/.exec(log) ?? [];
        if (address) resolve(address);
      });
      child.once('close', () => reject(new Error(`The gateway exited before it listened:\n${log}`)));
    });
    for (const path of ['/readyz', '/openapi.json', '/api/user?user_group_id=acme']) {
      const response = await fetch(`${url}${path}`, { headers: { authorization: `Token ${token}`, connection: 'close' } });
      const text = await response.text();
      if (response.status !== 200 || (path.startsWith('/api') && JSON.parse(text).new_user_group !== true))
        throw new Error(`GET ${path} responded with ${response.status}: ${text}`);
    }
    process.stdout.write(`first start and a user group in ${((performance.now() - startedAt) / 1_000).toFixed(1)} s\n`);
  } finally {
    if (child.exitCode === null) process.kill(-child.pid, 'SIGTERM');
    await closed;
    clearTimeout(late);
  }
  if (!log.includes('"stopped"')) throw new Error(`The gateway did not stop cleanly:\n${log}`);
}
