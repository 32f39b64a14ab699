import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { TestDatabase } from './database.ts';

/** A clock that a test moves forward: that of a database, and that of processes. */
export interface MovedClock {
  /** Settings with which a Node.js process has this clock, in `Date.now`. */
  readonly settings: Readonly<Record<string, string>>;
  /** The time in milliseconds since 1970. */
  now(): number;
  /** Moves the clock. */
  advance(seconds: number): Promise<void>;
  close(): Promise<void>;
}

/** Read by each process each time: there is no other way to tell it. */
const preloaded = `
  import { readFileSync } from 'node:fs';
  const { now } = Date;
  Date.now = () => now() + 1_000 * Number(readFileSync(process.env.SECONDS_AHEAD_FILE, 'utf8'));`;

/** Makes a clock for a database that nothing is connected to yet: its connections get a `now()` of this clock. */
export async function createMovedClock({ url }: TestDatabase): Promise<MovedClock> {
  const folder = mkdtempSync(join(tmpdir(), 'user-group-gateway-clock-'));
  const file = join(folder, 'seconds-ahead');
  writeFileSync(file, '0');
  const client = new pg.Client(url);
  await client.connect();
  // PostgreSQL's own comes first unless its schema is in the path.
  await client.query(`
    create table clock (seconds_ahead integer not null);
    insert into clock values (0);
    create function public.now() returns timestamptz stable language sql
      return pg_catalog.now() + (select seconds_ahead from clock) * interval '1 second';
    do $$ begin execute format('alter database %I set search_path = public, pg_catalog', current_database()); end $$`);
  const ahead = () => Number(readFileSync(file, 'utf8'));
  return {
    settings: {
      SECONDS_AHEAD_FILE: file,
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(preloaded)}`,
    },
    now: () => Date.now() + 1_000 * ahead(),
    async advance(seconds) {
      await client.query('update clock set seconds_ahead = seconds_ahead + $1', [seconds]);
      writeFileSync(file, String(ahead() + seconds));
    },
    async close() {
      await client.end();
      rmSync(folder, { recursive: true });
    },
  };
}
