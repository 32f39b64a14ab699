import { OperationNames } from './operation-names.ts';

const none = (): number => 0;

/** The names of operations, and how many documents the GraphQL server has, which sets the function. */
export class GraphQLMetrics {
  readonly names = new OperationNames();
  /** The number of documents in the cache. */
  cachedDocuments = none;
}
