import { createHash } from 'node:crypto';
import {
  type DefinitionNode,
  GraphQLError,
  Kind,
  NoSchemaIntrospectionCustomRule,
  OperationTypeNode,
  specifiedRules,
  validate,
} from 'graphql';
import { GatewayError, InvalidInput, shorten } from '../../domain/errors.ts';
import { parseJson } from '../../http/json.ts';
import { graphqlLimits, persistedOperationsLimits } from '../schema/limits.ts';
import { schema } from '../schema/schema.ts';
import { JsonVariablesRule } from './json-variables.ts';
import { parseDocument } from './parse-document.ts';
import { persistedDocumentsOf } from './persisted-operations-formats.ts';

/** The only documents that are executed. */
export interface PersistedOperations {
  /**
   * The parameters with the text of the document that they name, by its text, by `documentId` or by
   * `extensions.persistedQuery.sha256Hash`, and without its id. Parses nothing: each value that was sent is looked up once.
   *
   * @throws InvalidInput when they name no document, one that is not persisted, or several.
   */
  resolve(params: Params): Params;
}

type Params = Readonly<Record<string, unknown>>;

const { maxErrors } = graphqlLimits;
const { maxPersistedOperations, maxPersistedProblems } = persistedOperationsLimits;

/** Everything that is wrong with a file of persisted operations. */
export class InvalidPersistedOperations extends Error {
  /** One line each, at most {@link persistedOperationsLimits.maxPersistedProblems}, and one that counts the rest. */
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    const rest = problems.length - maxPersistedProblems;
    const shown = rest > 0 ? [...problems.slice(0, maxPersistedProblems), `${rest} more problems`] : problems;
    super(shown.join('\n'));
    this.name = 'InvalidPersistedOperations';
    this.problems = shown;
  }
}

/**
 * Reads the content of a file of persisted operations, and checks every document as those of requests are checked.
 *
 * @param introspection whether a document may read the schema.
 * @param own documents of the gateway's own pages, which are executed too. They are not checked: the build did.
 * @throws InvalidPersistedOperations with every problem.
 */
export function parsePersistedOperations(
  content: string,
  introspection: boolean,
  own: readonly string[] = [],
): PersistedOperations {
  const documents = persistedDocumentsOf(parseFile(content));
  if (typeof documents === 'string') throw new InvalidPersistedOperations([documents]);
  if (documents.length === 0) throw new InvalidPersistedOperations(['has no documents: every request would be rejected']);
  if (documents.length > maxPersistedOperations) {
    throw new InvalidPersistedOperations([`has ${documents.length} documents; the limit is ${maxPersistedOperations}`]);
  }
  const rules = [...specifiedRules, JsonVariablesRule, ...(introspection ? [] : [NoSchemaIntrospectionCustomRule])];
  const problems: string[] = [];
  const byId = new Map<string, string>();
  const texts = new Set<string>();
  for (const { id, text } of documents) {
    const name = JSON.stringify(shorten(id));
    if (typeof text !== 'string') problems.push(`document ${name}: expected the text of a GraphQL document`);
    else if (byId.has(id)) problems.push(`document ${name}: another document has the same id`);
    else {
      problems.push(...problemsOf(text, rules).map((problem) => `document ${name}: ${problem}`));
      byId.set(id, text);
      texts.add(text);
    }
  }
  if (problems.length > 0) throw new InvalidPersistedOperations(problems);
  for (const text of own) texts.add(text);
  for (const text of texts) {
    const hash = createHash('sha256').update(text).digest('hex');
    for (const id of [hash, `sha256:${hash}`]) if (!byId.has(id)) byId.set(id, text);
  }
  return { resolve: (params) => resolve(params, byId, texts) };
}

function parseFile(content: string): unknown {
  try {
    return parseJson(content, 'the file');
  } catch (error) {
    throw error instanceof GatewayError ? new InvalidPersistedOperations([error.message]) : error;
  }
}

/** What is wrong with a document, one line each, with line and column. */
function problemsOf(text: string, rules: typeof specifiedRules): string[] {
  try {
    const document = parseDocument(text);
    // Validation has nothing against them; they are rejected when they are executed.
    if (document.definitions.some(isSubscription)) return ['Subscriptions are not supported.'];
    return validate(schema, document, rules, { maxErrors }).map(describe);
  } catch (error) {
    if (error instanceof GraphQLError) return [describe(error)];
    throw error;
  }
}

const isSubscription = (definition: DefinitionNode): boolean =>
  definition.kind === Kind.OPERATION_DEFINITION && definition.operation === OperationTypeNode.SUBSCRIPTION;

function describe({ message, locations }: GraphQLError): string {
  const [place] = locations ?? [];
  return `${shorten(message, graphqlLimits.maxMessageLength)}${place ? ` (line ${place.line}, column ${place.column})` : ''}`;
}

function resolve(params: Params, byId: ReadonlyMap<string, string>, texts: ReadonlySet<string>): Params {
  const { query, documentId, extensions, ...others } = params;
  const { persistedQuery, ...otherExtensions } = objectOrEmpty(extensions);
  const ids = { documentId, 'extensions.persistedQuery.sha256Hash': objectOrEmpty(persistedQuery)['sha256Hash'] };
  let text: string | undefined;
  for (const [name, id] of Object.entries(ids)) {
    if (id == null) continue;
    const named = typeof id === 'string' ? byId.get(id) : undefined;
    if (named === undefined) throw notPersisted(name, 'not the id of a persisted operation');
    if (text !== undefined && text !== named) throw notPersisted(name, 'the id of another persisted operation than documentId');
    text = named;
  }
  if (text !== undefined && query != null && query !== text) throw notPersisted('query', 'not the document that the id names');
  text ??= typeof query === 'string' && texts.has(query) ? query : undefined;
  if (text === undefined) throw notPersisted('query', query == null ? 'missing' : 'not a persisted operation, byte for byte');
  // Without what only names the document, a request is as plain as one with the text alone.
  const rest = persistedQuery === undefined ? extensions : otherExtensions;
  const hasExtensions = persistedQuery === undefined ? extensions !== undefined : Object.keys(otherExtensions).length > 0;
  return { ...others, query: text, ...(hasExtensions && { extensions: rest }) };
}

function objectOrEmpty(value: unknown): Params {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Params) : {};
}

const remedy =
  'This gateway executes persisted operations only: send the documentId or the exact text of one, or ask the operator to add yours to the file in PERSISTED_OPERATIONS.';

function notPersisted(parameter: string, problem: string): InvalidInput {
  return new InvalidInput([{ path: parameter.split('.'), message: `is ${problem}. ${remedy}` }]);
}
