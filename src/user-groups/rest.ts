import type { GraphQLSchema } from 'graphql';
import { droppedBodyRemedy, errorCatalog } from '../errors.ts';
import type { ContextOf } from '../graphql/context.ts';
import { compileMutation, traceMutation } from '../graphql/execution/compiled-operation.ts';
import { jsonObject } from '../http/body.ts';
import { mediaTypes } from '../http/media-types.ts';
import { type Failure, problem } from '../http/problem.ts';
import type { Handler, HttpRequest, HttpResponse } from '../http/types.ts';
import type { ExecuteOnce } from '../idempotency/idempotency.ts';
import { hasIdempotencyKey, type KeyedResponse, respondOnce } from '../idempotency/route.ts';
import { tracing } from '../tracing/tracing.ts';
import { givenAttributes } from './attributes.ts';
import { assertNothingLost, entityTagOf, parseIfMatch, queryMembers } from './rest-request.ts';
import type { Services } from './user-groups.ts';

/** The members of a request or of an operation's input, by name; a member that is absent is left out. */
export type Members = Readonly<Record<string, unknown>>;

/** The members that creating and updating have in common, and their GraphQL fields. */
const shared: Readonly<Record<string, string>> = Object.fromEntries(givenAttributes.map(([name, { member }]) => [member, name]));

const converters = new Map(givenAttributes.map(([, { member, fromMember }]) => [member, fromMember]));

/** Creates a function that builds the input of an operation: the listed members that are present, under their GraphQL names. */
function pick(fields: Readonly<Record<string, string>>): (members: Members) => Members {
  const pairs = Object.entries(fields);
  return (members) => {
    const input: Record<string, unknown> = {};
    for (const [member, field] of pairs) {
      if (!Object.hasOwn(members, member)) continue;
      const convert = converters.get(member);
      input[field] = convert ? convert(members[member]) : members[member];
    }
    return input;
  };
}

/** The legacy names of fields that GraphQL names differently. */
const legacyNames: Readonly<Record<string, string>> = {
  providedId: 'user_group_id',
  currentToken: 'current_token',
  ...Object.fromEntries(givenAttributes.map(([name, { member }]) => [name, member])),
};

const environmentNames: Readonly<Record<string, string>> = { CUSTOMER: 'Customer', TESTING: 'Testing' };

/** An environment tag as the legacy API writes it; `null` means untagged. */
function environmentName(tag: unknown): string | null {
  return environmentNames[String(tag)] ?? null;
}

/** A failure whose issue paths use the legacy member names, and schema ids for mapping entries. */
function toLegacyFailure(failure: Failure, { mapping }: Members): Failure {
  const { code, message, allow, retryAfterSeconds, issues = [] } = failure;
  const namesEntry = issues.some(({ path: [first, index] }) => first === 'mapping' && index !== undefined);
  const schemaIds = namesEntry && typeof mapping === 'object' && mapping !== null ? Object.keys(mapping) : [];
  const renamed = issues.map((issue) => ({ ...issue, path: legacyPath(issue.path, schemaIds) }));
  return { code, message, allow, retryAfterSeconds, issues: renamed };
}

function legacyPath([first, ...rest]: readonly (string | number)[], schemaIds: readonly string[]): string[] {
  if (first === undefined) return [];
  if (first === 'by') return legacyPath(rest, schemaIds);
  const names = first === 'mapping' ? rest.slice(0, 1).map((index) => schemaIds[Number(index)] ?? index) : rest;
  return [legacyNames[first] ?? first, ...names].map(String);
}

/** The result of an operation: the members of the legacy response, by its aliases, or a failure; and {@link Tagged}. */
type Result = Tagged & ({ readonly user_group: Record<string, unknown>; readonly new_user_group?: boolean } | Failure);

/** What the header ETag is made from; a failure other than `VERSION_MISMATCH` has none. */
interface Tagged {
  readonly tagged?: { readonly version: number };
}

const failureFields = '... on Error { code message } ... on InvalidInput { issues { path message } }';

/** Selects {@link Tagged} of a type. */
const taggedOf = (type: string): string => `... on ${type} { tagged: userGroup { version } }`;

/** The operations, on the same schema that GraphQL clients use. */
const getOrCreateDocument = `
  mutation GetOrCreate($input: GetOrCreateUserGroupInput!) {
    result: getOrCreateUserGroup(input: $input) {
      ... on GetOrCreateUserGroupPayload {
        new_user_group: created
        user_group: userGroup { team_id: teamId token name provided_id: providedId properties }
      }
      ${taggedOf('GetOrCreateUserGroupPayload')}
      ${failureFields}
    }
  }`;

const updateDocument = `
  mutation Update($input: UpdateUserGroupInput!) {
    result: updateUserGroup(input: $input) {
      ... on UpdateUserGroupPayload {
        user_group: userGroup { team_id: teamId token name provided_id: providedId properties api_environment_tag: environmentTag }
      }
      ${taggedOf('UpdateUserGroupPayload')}
      ${taggedOf('VersionMismatch')}
      ${failureFields}
    }
  }`;

const rotateDocument = `
  mutation Rotate($input: RotateUserGroupTokenInput!) {
    result: rotateUserGroupToken(input: $input) {
      ... on RotateUserGroupTokenPayload {
        user_group: userGroup { team_id: teamId token name provided_id: providedId api_environment_tag: environmentTag }
      }
      ${taggedOf('RotateUserGroupTokenPayload')}
      ${taggedOf('VersionMismatch')}
      ${failureFields}
    }
  }`;

/** A method of the legacy API. */
export interface Operation {
  /** What it does, as a verb with its object. */
  readonly summary: string;
  readonly document: string;
  /** The members of the request, and the GraphQL input field of each, as a path. */
  readonly members: Readonly<Record<string, string>>;
  /**
   * Whether requests may have an Idempotency-Key and an If-Match. Get-or-create needs neither: it is safe to repeat, and does not
   * change a group.
   */
  readonly takesKey: boolean;
  /** The operation's input, from the request's members. None is checked yet. */
  readonly input: (members: Members) => Members;
}

const groupFields = { user_group_id: 'providedId', ...shared };
const tokenFields = { current_token: 'currentToken' };

const getOrCreate: Operation = {
  summary: 'gets or creates a user group',
  document: getOrCreateDocument,
  members: groupFields,
  takesKey: false,
  input: pick(groupFields),
};

/** The operation of each method. */
export const operations: Readonly<Record<string, Operation>> = {
  GET: getOrCreate,
  QUERY: getOrCreate,
  PUT: {
    summary: 'updates it',
    document: updateDocument,
    members: { user_group_id: 'by.providedId', ...shared },
    takesKey: true,
    input: (members) => ({ by: { providedId: members['user_group_id'] }, ...pick(shared)(members) }),
  },
  POST: {
    summary: 'rotates its token',
    document: rotateDocument,
    members: tokenFields,
    takesKey: true,
    input: pick(tokenFields),
  },
};

/** The methods of `/api/user`. */
export const userMethods: readonly string[] = Object.keys(operations);

/** What the methods of `/api/user` do, such as `PUT updates it, POST rotates its token`. */
export const userSummary: string = [...new Set(Object.values(operations))]
  .map((operation) => `${userMethods.filter((method) => operations[method] === operation).join(' or ')} ${operation.summary}`)
  .join(', ');

/**
 * Creates the handler of the legacy route `/api/user`.
 *
 * @param contextOf creates the context of the resolvers for a request.
 * @param executeOnce executes requests with an Idempotency-Key.
 * @throws Error when an operation is not valid against the schema.
 */
export function userHandler(schema: GraphQLSchema, contextOf: ContextOf, executeOnce: ExecuteOnce): Handler {
  const compiled = new Map(
    Object.entries(operations).map(([method, { document, members, input, takesKey }]) => {
      const untraced = compileMutation(schema, document);
      const mutation = tracing.active ? traceMutation(untraced, tracing.active) : untraced;
      return [method, { names: Object.keys(members), input, takesKey, compiled: mutation, name: mutation.fieldName }] as const;
    }),
  );
  return {
    async handle(request) {
      const operation = compiled.get(request.method);
      if (!operation) throw new Error(`The route table permits ${request.method}, which has no operation.`);
      request.operation = operation.name;
      const members = readMembers(request, operation.names);
      const expectedVersions = operation.takesKey ? parseIfMatch(request.headers['if-match']) : undefined;
      const execute = async (services?: Services) => {
        const context = contextOf(request, services);
        const expecting = expectedVersions ? { ...context, expectedVersions } : context;
        return (await operation.compiled.run(operation.input(members), expecting)) as Result;
      };
      if (operation.takesKey && hasIdempotencyKey(request)) {
        return respondOnce(executeOnce, request, contentOf(request), async (services) =>
          keyed(request, members, await execute(services)),
        );
      }
      return render(request, members, await execute());
    },
    renderError: (error, request) => problem(toLegacyFailure(error, {}), request),
  };
}

/** What the effect of a request depends on. */
const contentOf = ({ method, headers: { 'if-match': ifMatch }, body }: HttpRequest): string =>
  `${method} /api/user\n${ifMatch === undefined ? '' : `If-Match: ${ifMatch}\n`}${body}`;

function render(request: HttpRequest, members: Members, result: Result): HttpResponse {
  const response = 'code' in result ? problem(toLegacyFailure(result, members), request) : success(result);
  const { tagged } = result;
  return tagged ? { ...response, headers: { ...response.headers, etag: entityTagOf(tagged.version) } } : response;
}

/** The response to a request with a key. What the API token does not permit may be permitted later: that is not kept. */
function keyed(request: HttpRequest, members: Members, result: Result): KeyedResponse {
  const isRefused = 'code' in result && [401, 403].includes(errorCatalog[result.code].status);
  return { response: render(request, members, result), isKept: !isRefused };
}

/** The members of the body, or for callers that cannot send one with a GET, of the query. */
function readMembers(request: HttpRequest, names: readonly string[]): Members {
  const reads = request.method === 'GET' || request.method === 'QUERY';
  if (reads && request.query !== '' && request.body.length === 0) {
    const members = queryMembers(request.query, names);
    if ('user_group_id' in members) return members;
  }
  const members = jsonObject(request, reads ? droppedBodyRemedy : 'Send a JSON object.');
  if (request.query !== '') assertNothingLost(request.query, members, names);
  return members;
}

function success({ user_group, tagged: _, ...members }: Exclude<Result, Failure>): HttpResponse {
  const tag =
    'api_environment_tag' in user_group ? { api_environment_tag: environmentName(user_group['api_environment_tag']) } : {};
  const body = JSON.stringify({ success: 1, ...members, user_group: { ...user_group, ...tag } });
  return { status: 200, headers: { 'content-type': mediaTypes.json }, body };
}
