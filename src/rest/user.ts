import type { GraphQLSchema } from 'graphql';
import type { GraphQLContext } from '../graphql/context.ts';
import { prepareOperation } from '../graphql/prepared.ts';
import { jsonObject } from '../http/body.ts';
import type { Answer, GatewayRequest, Route } from '../http/exchange.ts';
import { type Failure, methodNotAllowed, problem } from '../http/problem.ts';
import { environmentName, inLegacyTerms, mappingEntries, queryMembers } from './legacy.ts';

/** What a row's operation answers: the members of the legacy answer, by its aliases, or a failure. */
type Result = { readonly user_group: Record<string, unknown>; readonly new_user_group?: boolean } | Failure;

const failureFields = '... on Error { code message } ... on InvalidInput { issues { path message } }';

/** A row for each method: the operation that it stands for, on the same schema that GraphQL clients use. */
const getOrCreate = `
  mutation GetOrCreate($user_group_id: String!, $name: String, $mapping: [DataSourceMappingInput!], $properties: JSON) {
    result: getOrCreateUserGroup(input: { providedId: $user_group_id, name: $name, mapping: $mapping, properties: $properties }) {
      ... on GetOrCreateUserGroupPayload {
        new_user_group: created
        user_group: userGroup { team_id: teamId token name provided_id: providedId properties }
      }
      ${failureFields}
    }
  }`;

const update = `
  mutation Update($user_group_id: String!, $name: String, $mapping: [DataSourceMappingInput!], $properties: JSON) {
    result: updateUserGroup(input: { by: { providedId: $user_group_id }, name: $name, mapping: $mapping, properties: $properties }) {
      ... on UpdateUserGroupPayload {
        user_group: userGroup { team_id: teamId token name provided_id: providedId properties api_environment_tag: environmentTag }
      }
      ${failureFields}
    }
  }`;

const rotate = `
  mutation Rotate($current_token: String!) {
    result: rotateUserGroupToken(input: { currentToken: $current_token }) {
      ... on RotateUserGroupTokenPayload {
        user_group: userGroup { team_id: teamId token name provided_id: providedId api_environment_tag: environmentTag }
      }
      ${failureFields}
    }
  }`;

const documents: Readonly<Record<string, string>> = { GET: getOrCreate, QUERY: getOrCreate, PUT: update, POST: rotate };

/** The methods that `/api/user` takes, as the `Allow` header has them. */
const allow = Object.keys(documents).join(', ');

/**
 * The legacy route `/api/user`.
 *
 * @param contextOf what resolvers are given for a request.
 * @throws Error when a row does not fit the schema.
 */
export function userRoute(schema: GraphQLSchema, contextOf: (request: GatewayRequest) => GraphQLContext): Route {
  const rows = new Map(Object.entries(documents).map(([method, document]) => [method, prepareOperation(schema, document)]));
  return {
    credential: 'required',
    async answer(request) {
      const row = rows.get(request.method);
      if (!row) return methodNotAllowed(request, allow);
      const members = readMembers(request);
      const mapping = mappingEntries(members['mapping']);
      if ('message' in mapping) return problem(mapping, request);
      const result = (await row.run({ ...members, ...mapping }, contextOf(request))) as Result;
      return 'code' in result ? problem(inLegacyTerms(result, members), request) : success(result);
    },
    failure: (error, request) => problem(inLegacyTerms(error, {}), request),
  };
}

const waysOut =
  'If your client or a proxy drops the body of a GET, send QUERY /api/user with the same body, or GET /api/user?user_group_id=…&name=….';

/** The members of the body, or for callers that cannot send one with a GET, of the query. */
function readMembers(request: GatewayRequest): Record<string, unknown> {
  const reads = request.method === 'GET' || request.method === 'QUERY';
  if (reads && request.body.length === 0 && request.query !== '') return queryMembers(request.query);
  return jsonObject(request, reads ? waysOut : `Send a JSON object.`);
}

function success({ user_group, ...members }: Exclude<Result, Failure>): Answer {
  const tag =
    'api_environment_tag' in user_group ? { api_environment_tag: environmentName(user_group['api_environment_tag']) } : {};
  const body = JSON.stringify({ success: 1, ...members, user_group: { ...user_group, ...tag } });
  return { status: 200, headers: { 'content-type': 'application/json' }, body };
}
