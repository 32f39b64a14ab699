import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { freePort } from './free-port.ts';
import { type Ended, launch, type Running, until } from './process.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const run = promisify(execFile);

/** How long the packages of an example may take to be installed, and an example to be built. */
export const installTimeoutMs = 300_000;

/** A copy of an example outside of the checkout, with its packages. */
export interface InstalledExample {
  readonly folder: string;
  /** Runs a program of the example to its end; never rejects. */
  run(args: string[], settings?: Readonly<Record<string, string>>): Promise<Ended>;
  /** Starts a program of the example that serves on `PORT`, and waits until it responds. */
  serve(args: string[], settings: Readonly<Record<string, string>>): Promise<Running & { readonly url: string }>;
  remove(): void;
}

/**
 * Installs an example as its users do: in a folder of its own, with packages from the registry, and the client as it is
 * published.
 */
export async function installExample(name: string): Promise<InstalledExample> {
  const temporary = mkdtempSync(join(tmpdir(), `user-group-gateway-${name}-`));
  const folder = join(temporary, name);
  mkdirSync(folder);
  const isSource = (file: string) => !['node_modules', 'package-lock.json', '.next', 'next-env.d.ts'].includes(basename(file));
  cpSync(join(root, 'examples', name), folder, { recursive: true, filter: isSource });
  // Compiled already: a script would do it again, in the folder that other tests pack.
  await run('npm', ['pack', './client', '--ignore-scripts', '--pack-destination', temporary], { cwd: root });
  const tarball = readdirSync(temporary).find((file) => file.endsWith('.tgz')) ?? '';
  await run('npm', ['install', join(temporary, tarball), '--no-audit', '--no-fund'], { cwd: folder });
  const serve: InstalledExample['serve'] = async (args, settings) => {
    const port = String(await freePort());
    const running = launch(process.execPath, args, { ...settings, PORT: port }, { cwd: folder });
    const url = `http://127.0.0.1:${port}`;
    let hasEnded = false;
    void running.ended.then(() => {
      hasEnded = true;
    });
    await until(() => {
      if (hasEnded) throw new Error(`The example ended: ${running.output.stderr}`);
      return fetch(url).then(
        () => true,
        () => false,
      );
    }, `${name} responds`);
    return { ...running, url };
  };
  return {
    folder,
    run: (args, settings = {}) => launch(process.execPath, args, settings, { cwd: folder }).ended,
    serve,
    remove: () => rmSync(temporary, { recursive: true, force: true }),
  };
}
