import { InvalidInput, type Issue } from '../errors.ts';
import { jsonObject } from '../http/body.ts';
import { mediaTypes } from '../http/media-types.ts';
import { type Failure, problem } from '../http/problem.ts';
import type { Handler } from '../http/types.ts';
import type { Services, UserGroupBy } from '../user-groups/user-groups.ts';
import { createEmbedToken } from './embed-tokens.ts';
import type { EmbedTokenInput } from './rules.ts';

/** The methods of the route that creates embed tokens. */
export const embedTokenMethods = ['POST'] as const;

/** The members whose names differ from those of the GraphQL schema. */
const members = { expires_in_seconds: 'expiresInSeconds', include_properties: 'includeProperties' } as const;
const selectors = { provided_id: 'providedId', team_id: 'teamId', token: 'token' } as const;
const memberNames = new Map<unknown, string>(
  Object.entries({ ...members, ...selectors }).map(([member, name]) => [name, member]),
);

/**
 * Creates the handler of `POST /api/embed-tokens`, the mutation `createEmbedToken` with members in snake case. It changes
 * nothing, so that requests need no Idempotency-Key.
 */
export function embedTokenHandler(services: Services): Handler {
  return {
    async handle(request) {
      request.operation = 'createEmbedToken';
      request.caller.require('embed:sign');
      const {
        expires_in_seconds: expiresInSeconds,
        include_properties: includeProperties,
        by: given,
        user_group_id: userGroupId,
        ...others
      } = jsonObject(request, 'Send a JSON object.');
      const input = { ...others, expiresInSeconds, includeProperties } as EmbedTokenInput;
      const { token, expiresAt } = await createEmbedToken(services, request.caller, selectorOf(given, userGroupId), input);
      const body = JSON.stringify({ success: 1, token, expires_at: expiresAt });
      return { status: 200, headers: { 'content-type': mediaTypes.json }, body };
    },
    renderError: (error, request) => problem(withMemberNames(error), request),
  };
}

/** The selector of the group: `by`, or `user_group_id` for its provided id. Values are not checked, except for a number. */
function selectorOf(by: unknown, userGroupId: unknown): UserGroupBy {
  const given = userGroupId == null ? by : { ...Object(by ?? {}), provided_id: userGroupId };
  const found = Object.entries(selectors).flatMap(([member, name]) => {
    const value = (Object(given) as Record<string, unknown>)[member];
    return value == null ? [] : [[name, value] as const];
  });
  const [[name, value] = [undefined, undefined], ...others] = found;
  if (name === undefined || others.length > 0 || (by != null && userGroupId != null)) {
    const message = 'must have exactly one of provided_id, team_id and token, unless user_group_id is given instead.';
    throw new InvalidInput([{ path: ['by'], message }]);
  }
  if (name === 'teamId' && !(Number.isInteger(value) && (value as number) >= 0 && (value as number) < 2 ** 31)) {
    throw new InvalidInput([{ path: ['by', 'teamId'], message: 'must be a whole number from 0 to 2147483647.' }]);
  }
  return { [name]: value } as unknown as UserGroupBy;
}

/** A failure whose issue paths have the names of the members. */
function withMemberNames(failure: Failure): Failure {
  const rename = ([first = '', ...rest]: Issue['path']): Issue['path'] =>
    first === 'by' ? [first, ...rest.map((name) => memberNames.get(name) ?? name)] : [memberNames.get(first) ?? first, ...rest];
  const { code, message, allow, retryAfterSeconds, issues = [] } = failure;
  const renamed = issues.map(({ path, message }) => ({ path: path.length === 0 ? path : rename(path).map(String), message }));
  return { code, message, allow, retryAfterSeconds, issues: renamed };
}
