import { withDatabase } from './context.ts';
import { UsageError } from './options.ts';

/** `migrate`: applies pending migrations, as every command that opens the database does first. */
export async function migrate(args: string[]): Promise<number> {
  if (args.length > 0) throw new UsageError('migrate takes no arguments.');
  return withDatabase(async () => {
    process.stdout.write('The database is up to date.\n');
    return 0;
  });
}
