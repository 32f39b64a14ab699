import { isDeepStrictEqual } from 'node:util';
import { parse } from 'graphql';
import { createApiToken } from '../../../src/api-tokens/api-tokens.ts';
import { Caller } from '../../../src/caller.ts';
import type { Database } from '../../../src/database/client.ts';
import { writeCursor } from '../../../src/database/list.ts';
import type { GraphQLContext } from '../../../src/graphql/context.ts';
import { compileOperation } from '../../../src/graphql/execution/compile.ts';
import { usesBeforeCompiling } from '../../../src/graphql/execution/execute.ts';
import { chooseResponseType, type ResponseType } from '../../../src/graphql/execution/response.ts';
import { createGraphQLServer } from '../../../src/graphql/execution/server.ts';
import { mediaTypes } from '../../../src/http/media-types.ts';
import { schema } from '../../../src/schema.ts';
import type { Scope } from '../../../src/scopes.ts';
import { createContext } from '../context.ts';
import { storedToken, tokenOf } from '../keys.ts';
import { contextOn } from '../queries.ts';
import type { Known } from './known.ts';
import type { CallerKind, GeneratedRequest } from './requests.ts';

/** How often a document is executed on the fast path: until it is compiled, and then with each set of variables. */
const uses = usesBeforeCompiling + 4;

/** A response as far as the two ways must agree. */
export interface ComparedResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The two ways to answer a request. This is all that the comparison knows of the server's interface. */
export interface Paths {
  full(params: Params, accept: string | undefined, context: GraphQLContext): Promise<ComparedResponse>;
  /** Nothing, when the request is left to the full pipeline. */
  fast(params: Params, accept: string | undefined, context: GraphQLContext): Promise<ComparedResponse | undefined>;
  /** Whether a document that is executed often is compiled, which is tried. */
  compiles(query: string): boolean;
}

type Params = Record<string, unknown>;

/** Builds a server. */
export function createPaths(): Paths {
  const server = createGraphQLServer(schema, { introspection: true });
  return {
    async full(params, accept, context) {
      const request = { method: 'POST', params, characters: charactersOf(params), type: typeOf(accept), context };
      return server.fullPipeline(request);
    },
    async fast(params, accept, context) {
      const response = await server.fastPath({ params, characters: charactersOf(params), type: typeOf(accept), context });
      return response;
    },
    compiles: (query) => compileOperation(schema, parse(query)) !== undefined,
  };
}

const typeOf = (accept: string | undefined): ResponseType => chooseResponseType(accept) ?? mediaTypes.json;

const charactersOf = (params: Params): number => JSON.stringify(params).length;

/** What was compared. */
export interface Figures {
  documents: number;
  /** Documents that were executed on the fast path. */
  executed: number;
  compiled: number;
  /** Those of them that read a page of a list. */
  compiledPages: number;
  /** Requests, by the way that answered them. */
  fast: number;
  left: number;
  /** Requests that the fast path answered though their text was new. */
  unseen: number;
  /** Executed documents by what they have. */
  readonly constructs: Record<string, number>;
}

/** Compares the fast path with the full pipeline. */
export interface Comparison {
  readonly figures: Figures;
  readonly known: Known;
  /** Sends a request both ways, often enough that it is compiled. @throws Error with both responses when they differ. */
  compare(request: GeneratedRequest): Promise<void>;
}

/** Stores what the requests mean, and builds a server on a database. */
export async function createComparison(database: Database): Promise<Comparison> {
  const paths = createPaths();
  const known = await store(database);
  const callers = await issueCallers(database);
  const figures: Figures = {
    documents: 0,
    executed: 0,
    compiled: 0,
    compiledPages: 0,
    fast: 0,
    left: 0,
    unseen: 0,
    constructs: {},
  };

  return {
    figures,
    known,
    async compare(request) {
      const { query, variables, others, accept, caller } = request;
      const context = (): GraphQLContext => createContext(contextOn(database, callers[caller]));
      const expected: ComparedResponse[] = [];
      let taken = 0;
      for (let use = 0; use < uses; use += 1) {
        const set = use % variables.length;
        const params = { ...others, query, ...(variables[set] !== undefined && { variables: variables[set] }) };
        // A mutation with other variables may have changed what this one responds with. Once executed, it changes nothing more.
        if (changes(query)) {
          delete expected[set];
          await paths.full(params, accept, context());
        }
        expected[set] ??= comparable(await paths.full(params, accept, context()));
        const agrees = async (sent: Params): Promise<boolean> => {
          const response = await paths.fast(sent, accept, context()).catch((error: Error) => rejected(error));
          if (!response) return false;
          figures.fast += 1;
          const actual = comparable(response);
          if (!isDeepStrictEqual(actual, expected[set])) throw new Error(describe(request, use, sent, expected[set], actual));
          return true;
        };
        // A text that no way has seen, with the same tokens at the same places.
        if (typeof query === 'string' && use < variables.length && (await agrees({ ...params, query: `${query} # ${use}` }))) {
          figures.unseen += 1;
        }
        if (await agrees(params)) taken += 1;
        else {
          figures.left += 1;
          // What was not covered with any set of variables stays uncovered.
          if (taken === 0 && use >= variables.length) break;
        }
      }
      figures.documents += 1;
      if (taken === 0 || typeof query !== 'string') return;
      figures.executed += 1;
      if (paths.compiles(query)) {
        figures.compiled += 1;
        if (/\b(userGroups|events|apiTokens)\b/.test(query)) figures.compiledPages += 1;
      }
      for (const name of constructsOf(query)) figures.constructs[name] = (figures.constructs[name] ?? 0) + 1;
    },
  };
}

const changes = (query: unknown) => typeof query === 'string' && query.startsWith('mutation');

const rejected = (error: Error): ComparedResponse => ({ status: 0, headers: {}, body: `rejected: ${error.stack}` });

/** Header names in one case, without what differs between any two responses or follows from the body. */
function comparable({ headers, ...rest }: ComparedResponse): ComparedResponse {
  const names = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const);
  const unlike = ['content-length', 'date', 'x-request-id'];
  return { ...rest, headers: Object.fromEntries(names.filter(([name]) => !unlike.includes(name)).sort()) };
}

function describe(request: GeneratedRequest, use: number, params: Params, expected: unknown, actual: unknown): string {
  return [
    `Use ${use + 1} is answered otherwise on the fast path. Caller: ${request.caller}. Accept: ${request.accept ?? 'none'}.`,
    `Document: ${request.query}`,
    `Parameters: ${JSON.stringify({ ...params, query: undefined })}`,
    `Full pipeline: ${JSON.stringify(expected)}`,
    `Fast path:     ${JSON.stringify(actual)}`,
  ].join('\n');
}

const constructs: Readonly<Record<string, RegExp>> = {
  'inline fragment': /\.\.\. ?(on|\{|@)/,
  'named fragment': /\bfragment \w/,
  directive: /@(include|skip)\(/,
  variable: /\$\w+:/,
  'default value': /\$\w+: [\w![\]]+ = /,
  'variable inside a literal': /[[{,] ?(\w+: )?\$\w/,
  introspection: /\b__(schema|type)\b/,
  mutation: /^mutation/,
  'alias __proto__': /\b__proto__:/,
};

function constructsOf(query: string): string[] {
  return Object.keys(constructs).filter((name) => constructs[name]?.test(query));
}

async function store({ prisma }: Database): Promise<Known> {
  const group = (providedId: string, environmentTag: 'Testing' | 'Customer' | null, rest: object) =>
    prisma.userGroup.create({
      data: {
        providedId,
        environmentTag,
        name: 'Same',
        ...storedToken(`an imported token of ${providedId} ${environmentTag}`),
        ...rest,
      },
    });
  const groups = [
    await group('acme', 'Testing', { properties: { plan: 'gold', nested: [1, { a: null }] }, mapping: { a: 'b' } }),
    await group('acme', 'Customer', {}),
    await group('untagged', null, { name: 'ä€😀' }),
  ];
  return {
    ids: groups.map(({ teamId }) => Buffer.from(`UserGroup:${teamId}`).toString('base64')),
    teamIds: groups.map(({ teamId }) => teamId),
    providedIds: ['acme', 'untagged'],
    tokens: groups.map(tokenOf),
    cursors: [
      ...groups.map((group) => writeCursor('UserGroup.createdAt', [group.createdAt, group.teamId])),
      writeCursor('ApiToken', [2]),
      writeCursor('Event', [new Date('2100-01-01'), 1n]),
    ],
  };
}

async function issueCallers(database: Database): Promise<Record<CallerKind, Caller>> {
  const issue = async (scopes: Scope[]) =>
    new Caller(
      (await createApiToken(contextOn(database), { name: 'fuzz', environmentTag: 'Testing', scopes, expiresAt: null })).apiToken,
    );
  return {
    groups: await issue(['groups:read', 'groups:write', 'audit:read']),
    admin: await issue(['admin']),
    metrics: await issue(['metrics:read']),
    anonymous: Caller.anonymous,
  };
}
