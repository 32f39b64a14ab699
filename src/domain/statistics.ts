import type { Database } from '../database/client.ts';
import { isUnavailable } from '../database/errors.ts';
import { updateGrownStatistics } from '../database/queries/table-statistics.ts';
import { runPeriodically } from './periodic.ts';

/** The pause between two checks: the first synchronization of a customer creates thousands of groups a second. */
const intervalMs = 1_000;

/**
 * The pause after a failure that is not an outage: an update that takes longer than a statement may would otherwise begin again
 * at once.
 */
const failurePauseMs = 60_000;

/**
 * Keeps PostgreSQL's statistics recent while tables grow, so that requests do not read whole tables by plans for small ones.
 *
 * @param onFailure takes why statistics could not be updated; not that the database is unavailable, which requests report.
 * @returns a function that stops it and waits for its end.
 */
export function startStatistics(
  database: Pick<Database, 'query' | 'transaction'>,
  onFailure: (error: unknown) => void,
): () => Promise<void> {
  return runPeriodically((signal) => updateGrownStatistics(database, signal), {
    firstDelayMs: intervalMs,
    nextDelayMs: (failure) => (failure === undefined || isUnavailable(failure) ? intervalMs : failurePauseMs),
    onFailure: (error) => {
      if (!isUnavailable(error)) onFailure(error);
    },
  });
}
