import { metricDefinitions } from '../metrics/definitions.ts';
import { createValues, observe } from '../metrics/instruments.ts';

/** The keys that wait to be sent, of all batch loaders of this process. */
export const waitingKeys = { count: 0 };

/** The sizes of the batches that were sent by all batch loaders of this process. */
export const batchSizes = createValues('batchSize');

const { bounds } = metricDefinitions.batchSize;

/** Counts a batch that is sent. */
export function countBatch(keys: number): void {
  observe(batchSizes, bounds, keys);
}
