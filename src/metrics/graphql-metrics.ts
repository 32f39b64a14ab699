import { OperationNames } from './operation-names.ts';

const none = (): number => 0;

/** The names of operations, and how the state of the GraphQL server is read. The server sets the functions. */
export class GraphQLMetrics {
  readonly names = new OperationNames();
  /** The number of documents in the cache. */
  cachedDocuments = none;
  /** How many long documents wait to be parsed. */
  waitingDocuments = none;
  /** How many costly operations wait to be executed. */
  waitingOperations = none;
}
