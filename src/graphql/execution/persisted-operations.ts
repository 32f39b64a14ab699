import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import {
  type DefinitionNode,
  GraphQLError,
  type GraphQLSchema,
  Kind,
  OperationTypeNode,
  type ValidationRule,
  validate,
} from 'graphql';
import { GatewayError, InvalidInput, shorten } from '../../errors.ts';
import { parseJson } from '../../json.ts';
import { graphqlLimits, persistedOperationsLimits } from '../limits.ts';
import { parseDocument } from './documents.ts';
import { validationRules } from './validation.ts';

/** A document of a file, whose text is not checked yet. */
export interface PersistedDocument {
  readonly id: string;
  readonly text: unknown;
}

const manifestFormat = 'apollo-persisted-query-manifest';

const expected = `expected an object with the text of a document under each id, or a manifest with "format": "${manifestFormat}"`;

/**
 * The documents of a file in one of its two formats: an object with the text of each document under its id, as Relay's compiler
 * (`persistConfig`) and GraphQL Code Generator (`persistedDocuments` of its client preset) write it, or a manifest of Apollo.
 *
 * @returns what is wrong, as a text, if the value has neither form.
 */
function persistedDocumentsOf(value: unknown): readonly PersistedDocument[] | string {
  if (!isObject(value)) return expected;
  const { format, operations } = value;
  if (format !== manifestFormat || value['version'] !== 1 || !Array.isArray(operations)) {
    if (Array.isArray(operations) || format === manifestFormat) {
      return `expected "format": "${manifestFormat}", "version": 1 and a list of operations`;
    }
    return Object.entries(value).map(([id, text]) => ({ id, text }));
  }
  const wrong = operations.findIndex((operation) => !isObject(operation) || typeof operation['id'] !== 'string');
  if (wrong >= 0) return `operations.${wrong}: expected an object with id and body`;
  return operations.map(({ id, body }: { id: string; body: unknown }) => ({ id, text: body }));
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

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

/** Everything that is wrong with the files of persisted operations. */
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

/** A file of persisted operations. */
export interface PersistedFile {
  /** Names it in problems, if it is one of several. */
  readonly name?: string | undefined;
  readonly content: string;
}

/** How long documents are checked before other work gets its turn, in milliseconds. */
const maxCheckMs = 10;

/**
 * Reads the content of files of persisted operations, and checks every document as those of requests are checked. Several files
 * may have the same document under the same id. Lets other work run in between.
 *
 * @param schema the schema that they are valid for.
 * @param introspection whether a document may read the schema.
 * @param own documents of the gateway's own pages, which are executed too. They are not checked: the build did.
 * @throws InvalidPersistedOperations, by its promise, with every problem.
 */
export async function parsePersistedOperations(
  files: readonly PersistedFile[],
  schema: GraphQLSchema,
  introspection: boolean,
  own: readonly string[] = [],
): Promise<PersistedOperations> {
  const rules = validationRules(introspection);
  const problems: string[] = [];
  const byId = new Map<string, string>();
  const texts = new Set<string>();
  let count = 0;
  let pauseAtMs = performance.now() + maxCheckMs;
  for (const { name: fileName, content } of files) {
    const place = fileName === undefined ? '' : `${fileName}: `;
    const report = (problem: string) => problems.push(`${place}${problem}`);
    const documents = readDocuments(content, report);
    count += documents.length;
    if (count > maxPersistedOperations) report(`has ${count} documents; the limit is ${maxPersistedOperations}`);
    if (count > maxPersistedOperations) break;
    const idsOfFile = new Set<string>();
    for (const { id, text } of documents) {
      const name = JSON.stringify(shorten(id));
      const known = byId.get(id);
      if (typeof text !== 'string') report(`document ${name}: expected the text of a GraphQL document`);
      else if (idsOfFile.has(id) || (known !== undefined && known !== text)) {
        report(`document ${name}: another document has the same id`);
      } else if (known === undefined) {
        for (const problem of problemsOf(schema, text, rules)) report(`document ${name}: ${problem}`);
        byId.set(id, text);
        texts.add(text);
      }
      idsOfFile.add(id);
      if (performance.now() < pauseAtMs) continue;
      await setImmediate();
      pauseAtMs = performance.now() + maxCheckMs;
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

/** The documents of a file; none after a problem of the whole file, which it reports. */
function readDocuments(content: string, report: (problem: string) => void): readonly PersistedDocument[] {
  try {
    const documents = persistedDocumentsOf(parseJson(content, 'the file'));
    if (typeof documents !== 'string' && documents.length > 0) return documents;
    report(typeof documents === 'string' ? documents : 'has no documents: every request would be rejected');
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    report(error.message);
  }
  return [];
}

/** What is wrong with a document, one line each, with line and column. */
function problemsOf(schema: GraphQLSchema, text: string, rules: readonly ValidationRule[]): string[] {
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
