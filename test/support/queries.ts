import { type App, type Context, contextOf, createApp } from '../../src/app.ts';
import { Caller, systemAuthor } from '../../src/caller.ts';
import type { Database } from '../../src/database/client.ts';
import { testKeys } from './keys.ts';

/** An app on a database, with the tests' key. Embed tokens have the issuer `http://gateway.test`. */
export const appOn = (database: Database, keys = testKeys): App =>
  createApp(database, keys, { publicUrl: () => 'http://gateway.test' });

/** What operations work with; by default on behalf of the gateway itself, which may do everything. */
export const contextOn = (database: Database, caller: Caller = Caller.trusted(systemAuthor)): Context =>
  contextOf(appOn(database), caller);
