import { findSequencesBehind } from '../../database/sequences.ts';
import { failure, ofDatabase, ok, skipped } from './check.ts';

/** Whether the next numbers of rows are free: not after rows were copied from elsewhere without the sequences. */
export const checkSequences = ofDatabase(async ({ database, migrations }) => {
  if (!migrations || migrations.pending.length > 0) return skipped('needs a database whose migrations are applied');
  const behind = await findSequencesBehind(database);
  const [first] = behind;
  if (!first) return ok('the next numbers are free');
  return failure(
    `behind the rows of their tables: ${behind.map(({ name }) => name).join(', ')}; what is created fails, or gets the number of something else`,
    `As the owner of the tables, run: ${behind.map(({ remedy }) => remedy).join(' ')}`,
  );
});
