import { Instruments, type SeriesValues } from './instruments.ts';
import { OperationNames } from './operation-names.ts';

const none = (): number => 0;

/** What the GraphQL server counts, and how its state is read. The server sets the functions. */
export class GraphQLMetrics {
  readonly names = new OperationNames();
  /** Look-ups in the document cache that found a document, and those that did not. */
  readonly hits: SeriesValues;
  readonly misses: SeriesValues;
  /** The number of documents in the cache. */
  cachedDocuments = none;
  /** How many long documents wait to be parsed. */
  waitingDocuments = none;
  /** How many costly operations wait to be executed. */
  waitingOperations = none;

  constructor(instruments = new Instruments()) {
    this.hits = instruments.series('documentLookups', 'hit');
    this.misses = instruments.series('documentLookups', 'miss');
  }
}
