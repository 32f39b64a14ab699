import { containsToken } from '../tokens.ts';

/** How many names are kept, and how long each may be: every name is a series in the metrics. */
export const maxOperationNames = 100;
const maxNameLength = 64;

/** The name of an operation without a name, and the one used for all names that are not kept. */
const unnamed = 'anonymous';
const otherName = 'other';

/** The names of GraphQL operations that metrics, logs and traces show: clients choose them, so they are bounded here. */
export class OperationNames {
  private readonly names = new Set<string>();

  /**
   * The name to show for an operation.
   *
   * @param name as the document has it, if it has one.
   * @param isAuthenticated whether the caller has an API token: others do not add names.
   */
  shown(name: string | undefined, isAuthenticated: boolean): string {
    if (name === undefined) return unnamed;
    if (this.names.has(name)) return name;
    if (!isAuthenticated || this.names.size >= maxOperationNames) return otherName;
    if (name.length > maxNameLength || containsToken(name)) return otherName;
    this.names.add(name);
    return name;
  }
}

const none = (): number => 0;

/** The names of operations, and how many documents the GraphQL server has, which sets the function. */
export class GraphQLMetrics {
  readonly names = new OperationNames();
  /** The number of documents in the cache. */
  cachedDocuments = none;
}
