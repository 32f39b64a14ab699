import type { GraphQLSchema } from 'graphql';
import { prepareOperation } from '../graphql/execution/compiled-operation.ts';
import type { GraphQLContext } from '../graphql/schema/context.ts';
import { jsonObject } from '../http/body.ts';
import { type Failure, methodNotAllowed, problem } from '../http/problem.ts';
import type { HttpRequest, HttpResponse, Route } from '../http/types.ts';
import { environmentName, type Members, pick, queryMembers, shared, toLegacyFailure } from './legacy.ts';

/** The result of an operation: the members of the legacy response, by its aliases, or a failure. */
type Result = { readonly user_group: Record<string, unknown>; readonly new_user_group?: boolean } | Failure;

const failureFields = '... on Error { code message } ... on InvalidInput { issues { path message } }';

/** The operation of each method, on the same schema that GraphQL clients use. */
const getOrCreate = `
  mutation GetOrCreate($input: GetOrCreateUserGroupInput!) {
    result: getOrCreateUserGroup(input: $input) {
      ... on GetOrCreateUserGroupPayload {
        new_user_group: created
        user_group: userGroup { team_id: teamId token name provided_id: providedId properties }
      }
      ${failureFields}
    }
  }`;

const update = `
  mutation Update($input: UpdateUserGroupInput!) {
    result: updateUserGroup(input: $input) {
      ... on UpdateUserGroupPayload {
        user_group: userGroup { team_id: teamId token name provided_id: providedId properties api_environment_tag: environmentTag }
      }
      ${failureFields}
    }
  }`;

const rotate = `
  mutation Rotate($input: RotateUserGroupTokenInput!) {
    result: rotateUserGroupToken(input: $input) {
      ... on RotateUserGroupTokenPayload {
        user_group: userGroup { team_id: teamId token name provided_id: providedId api_environment_tag: environmentTag }
      }
      ${failureFields}
    }
  }`;

/** The operation of a method. */
interface Row {
  readonly document: string;
  /** The operation's input, from the request's members, of which none is checked yet. */
  readonly input: (members: Members) => Members;
}

const groupFields = { user_group_id: 'providedId', ...shared };

/** The operation of each method. */
export const rows: Readonly<Record<string, Row>> = {
  GET: { document: getOrCreate, input: pick(groupFields) },
  QUERY: { document: getOrCreate, input: pick(groupFields) },
  PUT: {
    document: update,
    input: (members) => ({ by: { providedId: members['user_group_id'] }, ...pick(shared)(members) }),
  },
  POST: { document: rotate, input: pick({ current_token: 'currentToken' }) },
};

/** The value of the `Allow` header of `/api/user`. */
const allow = Object.keys(rows).join(', ');

/**
 * The legacy route `/api/user`.
 *
 * @param contextOf creates the context of the resolvers for a request.
 * @throws Error when an operation is not valid against the schema.
 */
export function userRoute(schema: GraphQLSchema, contextOf: (request: HttpRequest) => GraphQLContext): Route {
  const prepared = new Map(
    Object.entries(rows).map(([method, row]) => [method, { ...row, operation: prepareOperation(schema, row.document) }]),
  );
  return {
    credential: 'required',
    schemes: ['Token'],
    async handle(request) {
      const row = prepared.get(request.method);
      if (!row) return methodNotAllowed(request, allow);
      const members = readMembers(request);
      const result = (await row.operation.run(row.input(members), contextOf(request))) as Result;
      return 'code' in result ? problem(toLegacyFailure(result, members), request) : success(result);
    },
    renderError: (error, request) => problem(toLegacyFailure(error, {}), request),
  };
}

const waysOut =
  'If your client or a proxy drops the body of a GET, send QUERY /api/user with the same body, or GET /api/user?user_group_id=…&name=….';

/** The members of the body, or for callers that cannot send one with a GET, of the query. */
function readMembers(request: HttpRequest): Members {
  const reads = request.method === 'GET' || request.method === 'QUERY';
  if (reads && request.body.length === 0 && /(^|&)user_group_id=/.test(request.query)) return queryMembers(request.query);
  return jsonObject(request, reads ? waysOut : 'Send a JSON object.');
}

function success({ user_group, ...members }: Exclude<Result, Failure>): HttpResponse {
  const tag =
    'api_environment_tag' in user_group ? { api_environment_tag: environmentName(user_group['api_environment_tag']) } : {};
  const body = JSON.stringify({ success: 1, ...members, user_group: { ...user_group, ...tag } });
  return { status: 200, headers: { 'content-type': 'application/json' }, body };
}
