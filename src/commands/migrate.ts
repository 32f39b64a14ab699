import { withDatabase } from './context.ts';

/** `migrate`: applies the migrations that are not applied. Every command that opens the database does so first. */
export async function migrate(): Promise<number> {
  return withDatabase(async () => {
    process.stdout.write('The database is up to date.\n');
    return 0;
  });
}
