import { readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { until } from './process.ts';
import { isAlive } from './processes.ts';

// Without the test runner, so that drills can use it, too.

/** A `DATA_DIR` that PostgreSQL's user may enter, and the bundled PostgreSQL that may run on it. */
export class DataFolder {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  /** The first process of PostgreSQL, by its own lock file; none after an orderly stop. */
  postmaster(): number | undefined {
    return Number.parseInt(this.#lockFile()[0] ?? '', 10) || undefined;
  }

  /** The URL of the gateway's database in the PostgreSQL that runs on it. */
  databaseUrl(): string {
    const password = readFileSync(join(this.path, 'postgres/superuser-password'), 'utf8');
    const [, , , port, , address] = this.#lockFile();
    const socket = new URLSearchParams({ host: realpathSync(join(this.path, 'postgres')) });
    return `postgresql://gateway:${password}@${address || 'localhost'}:${port}/postgres${address ? '' : `?${socket}`}`;
  }

  /** Ends a PostgreSQL that a killed gateway has left. */
  async end(): Promise<void> {
    const pid = this.postmaster();
    if (!pid || !isAlive(pid)) return;
    process.kill(pid, 'SIGQUIT');
    await until(() => !isAlive(pid), 'the PostgreSQL that was left ends');
  }

  #lockFile(): string[] {
    try {
      return readFileSync(join(this.path, 'postgres/postmaster.pid'), 'utf8').split('\n');
    } catch {
      return [];
    }
  }
}
