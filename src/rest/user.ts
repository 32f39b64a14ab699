import type { GraphQLSchema } from 'graphql';
import { droppedBodyRemedy, type ErrorCode, errorCatalog } from '../domain/errors.ts';
import type { ExecuteOnce } from '../domain/idempotency.ts';
import type { Db } from '../domain/user-groups.ts';
import { compileMutation } from '../graphql/execution/compiled-operation.ts';
import { traceMutation } from '../graphql/execution/traced.ts';
import type { ContextOf } from '../graphql/schema/context.ts';
import { jsonObject } from '../http/body.ts';
import { hasIdempotencyKey, type KeyedResponse, respondOnce } from '../http/idempotency.ts';
import { mediaTypes } from '../http/media-types.ts';
import { type Failure, problem } from '../http/problem.ts';
import type { Handler, HttpRequest, HttpResponse } from '../http/types.ts';
import { tracing } from '../tracing/tracing.ts';
import { environmentName, type Members, pick, shared, toLegacyFailure } from './legacy.ts';
import { assertSameInBody, queryMembers } from './query.ts';

/** The result of an operation: the members of the legacy response, by its aliases, or a failure. */
type Result = { readonly user_group: Record<string, unknown>; readonly new_user_group?: boolean } | Failure;

const failureFields = '... on Error { code message } ... on InvalidInput { issues { path message } }';

/** The operations, on the same schema that GraphQL clients use. */
const getOrCreateDocument = `
  mutation GetOrCreate($input: GetOrCreateUserGroupInput!) {
    result: getOrCreateUserGroup(input: $input) {
      ... on GetOrCreateUserGroupPayload {
        new_user_group: created
        user_group: userGroup { team_id: teamId token name provided_id: providedId properties }
      }
      ${failureFields}
    }
  }`;

const updateDocument = `
  mutation Update($input: UpdateUserGroupInput!) {
    result: updateUserGroup(input: $input) {
      ... on UpdateUserGroupPayload {
        user_group: userGroup { team_id: teamId token name provided_id: providedId properties api_environment_tag: environmentTag }
      }
      ${failureFields}
    }
  }`;

const rotateDocument = `
  mutation Rotate($input: RotateUserGroupTokenInput!) {
    result: rotateUserGroupToken(input: $input) {
      ... on RotateUserGroupTokenPayload {
        user_group: userGroup { team_id: teamId token name provided_id: providedId api_environment_tag: environmentTag }
      }
      ${failureFields}
    }
  }`;

/** A method of the legacy API. */
export interface Operation {
  /** What it does, as a verb with its object. */
  readonly summary: string;
  /** The same as a heading. */
  readonly title: string;
  readonly document: string;
  /** The members of the request, and the GraphQL input field of each, as a path. */
  readonly members: Readonly<Record<string, string>>;
  /** The member that a request must have. */
  readonly required: string;
  /** The members that may be `null`. */
  readonly nullable: readonly string[];
  /** The error codes that only some operations respond with. */
  readonly ownErrors: readonly ErrorCode[];
  /** Whether requests may have an Idempotency-Key. Get-or-create needs none: it is safe to repeat. */
  readonly takesKey: boolean;
  /** The operation's input, from the request's members, of which none is checked yet. */
  readonly input: (members: Members) => Members;
}

const groupFields = { user_group_id: 'providedId', ...shared };
const tokenFields = { current_token: 'currentToken' };

const getOrCreate: Operation = {
  summary: 'gets or creates a user group',
  title: 'Get or create a user group',
  document: getOrCreateDocument,
  members: groupFields,
  required: 'user_group_id',
  nullable: ['name', 'mapping', 'properties'],
  ownErrors: ['CONFLICT'],
  takesKey: false,
  input: pick(groupFields),
};

/** The operation of each method. */
export const operations: Readonly<Record<string, Operation>> = {
  GET: getOrCreate,
  QUERY: getOrCreate,
  PUT: {
    summary: 'updates it',
    title: 'Update a user group',
    document: updateDocument,
    members: { user_group_id: 'by.providedId', ...shared },
    required: 'user_group_id',
    nullable: ['properties'],
    ownErrors: ['NOT_FOUND', 'IDEMPOTENCY_KEY_IN_USE', 'IDEMPOTENCY_KEY_REUSED'],
    takesKey: true,
    input: (members) => ({ by: { providedId: members['user_group_id'] }, ...pick(shared)(members) }),
  },
  POST: {
    summary: 'rotates its token',
    title: 'Rotate the token of a user group',
    document: rotateDocument,
    members: tokenFields,
    required: 'current_token',
    nullable: [],
    ownErrors: ['NOT_FOUND', 'IDEMPOTENCY_KEY_IN_USE', 'IDEMPOTENCY_KEY_REUSED'],
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
      if (operation.takesKey && hasIdempotencyKey(request)) {
        const execute = async (db: Db) =>
          keyed(request, members, (await operation.compiled.run(operation.input(members), contextOf(request, db))) as Result);
        return respondOnce(executeOnce, request, `${request.method} /api/user\n${request.body}`, execute);
      }
      const result = (await operation.compiled.run(operation.input(members), contextOf(request))) as Result;
      return render(request, members, result);
    },
    renderError: (error, request) => problem(toLegacyFailure(error, {}), request),
  };
}

function render(request: HttpRequest, members: Members, result: Result): HttpResponse {
  return 'code' in result ? problem(toLegacyFailure(result, members), request) : success(result);
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
  if (request.query !== '') assertSameInBody(request.query, members, names);
  return members;
}

function success({ user_group, ...members }: Exclude<Result, Failure>): HttpResponse {
  const tag =
    'api_environment_tag' in user_group ? { api_environment_tag: environmentName(user_group['api_environment_tag']) } : {};
  const body = JSON.stringify({ success: 1, ...members, user_group: { ...user_group, ...tag } });
  return { status: 200, headers: { 'content-type': mediaTypes.json }, body };
}
