import { type App, type Context, contextOf } from '../app.ts';
import { droppedBodyRemedy } from '../error-catalog.ts';
import {
  Conflict,
  Forbidden,
  GatewayError,
  InvalidInput,
  type Issue,
  NotFound,
  Unauthenticated,
  VersionMismatch,
} from '../errors.ts';
import type { UserGroup } from '../generated/prisma/client.ts';
import { bodyRequired, isEmptyBody, jsonObject, queryIssues, unknownFields } from '../http/body.ts';
import { mediaTypes } from '../http/media-types.ts';
import { problem } from '../http/problem.ts';
import type { Handler, HttpRequest, HttpResponse } from '../http/types.ts';
import { respondOnce } from '../idempotency.ts';
import { parseJson, parseQuery } from '../json.ts';
import { traceOperation } from '../tracing.ts';
import { givenAttributes, givenOf, maxVersion, memberPath } from './attributes.ts';
import { deleteUserGroup, type RotationInput, rotateUserGroupToken, updateUserGroup } from './change.ts';
import { getOrCreateUserGroup, type NewUserGroup } from './create.ts';
import { currentTokenOf, type UserGroupBy } from './user-groups.ts';

/** The members that creating and updating have in common. */
const shared = givenAttributes.map(([, { member }]) => member);

/** Issues whose paths have the legacy member names, and schema ids for mapping entries. */
const legacyIssues = (issues: readonly Issue[], { mapping }: Members): Issue[] =>
  issues.map((issue) => ({ ...issue, path: legacyPath(issue.path, mapping) }));

function legacyPath([first, ...rest]: Issue['path'], mapping: unknown): Issue['path'] {
  if (first === undefined) return [];
  if (first === 'by') return legacyPath(rest, mapping);
  return memberPath([first, ...rest], mapping).map(String);
}

/** What an operation is executed with. The members are not checked yet: the rules of user groups do that, for both APIs. */
interface Call {
  readonly context: Context;
  readonly members: Members;
  readonly expectedVersion: number | undefined;
}

/** What an operation has done: the group as it is now, unless it is gone, and the members of the response. */
type Done =
  | { readonly userGroup: UserGroup; readonly body: { readonly user_group: object; readonly new_user_group?: boolean } }
  | { readonly userGroup: undefined; readonly body: { readonly deleted: true } };

/** A method of the legacy API. */
export interface Operation {
  /** The GraphQL mutation that does the same; metrics, logs and traces name both so. */
  readonly name: 'getOrCreateUserGroup' | 'updateUserGroup' | 'rotateUserGroupToken' | 'deleteUserGroup';
  /** The members of the request. */
  readonly members: readonly string[];
  /**
   * Whether requests may have an Idempotency-Key and an If-Match. Get-or-create needs neither: it is safe to repeat, and does not
   * change a group.
   */
  readonly takesKey: boolean;
  /** What callers who cannot send a body do instead; undefined if they must. Then the members may be parameters in the query. */
  readonly withoutBody?: string;
  /** @throws what the function of the same name throws. */
  readonly run: (call: Call) => Promise<Done>;
}

/** What a change selects. */
const ownGroup = (members: Members): UserGroupBy => ({
  providedId: members['user_group_id'] as string,
  staysInEnvironment: true,
});

const groupOf = (context: Context, userGroup: UserGroup) => ({
  team_id: userGroup.teamId,
  token: currentTokenOf(context, userGroup),
  name: userGroup.name,
  provided_id: userGroup.providedId,
});

const getOrCreate: Operation = {
  name: 'getOrCreateUserGroup',
  members: ['user_group_id', ...shared],
  takesKey: false,
  withoutBody: droppedBodyRemedy,
  async run({ context, members }) {
    const input = { providedId: members['user_group_id'], ...givenOf(members) } as unknown as NewUserGroup;
    const { userGroup, created } = await getOrCreateUserGroup(context, input);
    const user_group = { ...groupOf(context, userGroup), properties: userGroup.properties };
    return { userGroup, body: { new_user_group: created, user_group } };
  },
};

/** The operation of each method. */
export const operations: Readonly<Record<string, Operation>> = {
  GET: getOrCreate,
  QUERY: getOrCreate,
  PUT: {
    name: 'updateUserGroup',
    members: ['user_group_id', ...shared],
    takesKey: true,
    async run({ context, members, expectedVersion }) {
      const userGroup = await updateUserGroup(context, ownGroup(members), { ...givenOf(members), expectedVersion });
      const { properties, environmentTag } = userGroup;
      const user_group = { ...groupOf(context, userGroup), properties, api_environment_tag: environmentTag };
      return { userGroup, body: { user_group } };
    },
  },
  POST: {
    name: 'rotateUserGroupToken',
    members: ['current_token', 'grace_seconds'],
    takesKey: true,
    async run({ context, members, expectedVersion }) {
      const { current_token: currentToken, grace_seconds: graceSeconds } = members;
      const input = { currentToken, graceSeconds, expectedVersion } as RotationInput;
      const { userGroup } = await rotateUserGroupToken(context, input);
      const user_group = { ...groupOf(context, userGroup), api_environment_tag: userGroup.environmentTag };
      return { userGroup, body: { user_group } };
    },
  },
  DELETE: {
    name: 'deleteUserGroup',
    members: ['user_group_id'],
    takesKey: true,
    withoutBody: 'Send a JSON object, or /api/user?user_group_id=… with the method DELETE.',
    async run({ context, members, expectedVersion }) {
      await deleteUserGroup(context, ownGroup(members), expectedVersion);
      return { userGroup: undefined, body: { deleted: true } };
    },
  },
};

/** The methods of `/api/user`. */
export const userMethods: readonly string[] = Object.keys(operations);

/** What they do. */
export const userSummary = 'GET or QUERY gets or creates a user group, PUT updates it, POST rotates its token, DELETE deletes it';

/**
 * Creates the handler of the legacy route `/api/user`.
 */
export function userHandler(app: App): Handler {
  return {
    async handle(request) {
      const operation = operations[request.method];
      if (!operation) throw new Error(`The route table permits ${request.method}, which has no operation.`);
      request.operation = operation.name;
      const members = readMembers(request, operation);
      const expectedVersion = operation.takesKey ? parseIfMatch(request.headers['if-match']) : undefined;
      const execute = (context: Context) =>
        traceOperation('mutation', operation.name, () =>
          respond(request, members, () => operation.run({ context, members, expectedVersion })),
        );
      const context = contextOf(app, request.caller);
      if (!operation.takesKey || request.idempotencyKey === undefined) return (await execute(context)).response;
      return respondOnce(context, request, contentOf(request), execute);
    },
    renderError: problem,
  };
}

/** What the effect of a request depends on. */
const contentOf = ({ method, headers: { 'if-match': ifMatch }, query, body }: HttpRequest): string =>
  `${method} /api/user?${query}\n${ifMatch === undefined ? '' : `If-Match: ${ifMatch}\n`}${body}`;

/** The refusals of an operation, which are its result. Other errors are failures. */
const refusals = [Unauthenticated, Forbidden, InvalidInput, NotFound, Conflict, VersionMismatch];

/** Runs an operation and renders its result. */
async function respond(request: HttpRequest, members: Members, run: () => Promise<Done>) {
  try {
    const { userGroup, body } = await run();
    const response = success(body);
    return { response: userGroup ? withEntityTag(response, userGroup) : response, isRefused: false };
  } catch (error) {
    if (!(error instanceof GatewayError) || !refusals.some((type) => error instanceof type)) throw error;
    request.countError(error.code);
    const issues = error instanceof InvalidInput ? legacyIssues(error.issues, members) : [];
    const refusal = problem({ code: error.code, message: error.message, issues }, request);
    const response = error instanceof VersionMismatch ? withEntityTag(refusal, error.userGroup) : refusal;
    return { response, isRefused: true };
  }
}

const success = (body: Done['body']): HttpResponse => ({
  status: 200,
  headers: { 'content-type': mediaTypes.json },
  body: JSON.stringify({ success: 1, ...body }),
});

const withEntityTag = (response: HttpResponse, { version }: UserGroup): HttpResponse => ({
  ...response,
  headers: { ...response.headers, etag: `"${version}"` },
});

/**
 * The members of the body, or for callers that cannot send one with this method, of the query.
 *
 * @throws InvalidInput for each field that the operation does not have, and for a query string beside a body.
 */
function readMembers(request: HttpRequest, { members: names, withoutBody }: Operation): Members {
  const { query } = request;
  const isInQuery = withoutBody !== undefined && (request.body.length === 0 || (query !== '' && isEmptyBody(request.body)));
  const members = isInQuery ? queryMembers(query) : jsonObject(request, withoutBody ?? 'Send a JSON object.');
  const issues = [...(isInQuery ? [] : queryIssues(query, names)), ...unknownFields(Object.keys(members), names)];
  if (issues.length > 0) throw new InvalidInput(issues);
  if (isInQuery && !Object.hasOwn(members, 'user_group_id')) throw bodyRequired(withoutBody);
  return members;
}

/** A strong entity tag of RFC 9110. */
const entityTag = /^"([\x21\x23-\x7e\x80-\xff]*)"$/;

/**
 * Reads the header If-Match: one strong entity tag, or `*`.
 *
 * @param value undefined without the header.
 * @returns the version that the group must have: undefined for any, 0 for a tag that no group has.
 * @throws GatewayError `INVALID_INPUT` for anything else.
 */
function parseIfMatch(value: string | undefined): number | undefined {
  if (value === undefined || value === '*') return undefined;
  const [, tag] = entityTag.exec(value) ?? [];
  if (tag === undefined) {
    const message =
      'The header If-Match must be the value of the header ETag that you got with the user group, such as "3", or *.';
    throw new GatewayError('INVALID_INPUT', message);
  }
  return /^[1-9]\d{0,9}$/.test(tag) && Number(tag) <= maxVersion ? Number(tag) : 0;
}

/** The members of a request, or the attributes made of them, by name; one that is absent is left out. */
type Members = Readonly<Record<string, unknown>>;

/** A parameter for one entry of the mapping, and the schema id in it. */
const mappingEntry = /^mapping\[([^[\]]+)\]$/;

/**
 * The members in a query string, known or not: texts, `mapping` and `properties` as JSON. An entry of the mapping may be a
 * parameter of its own, `mapping[SCHEMA_ID]`.
 *
 * @throws InvalidInput for each parameter that is given twice.
 * @throws GatewayError `MALFORMED_JSON`, also when what is percent-encoded is not UTF-8.
 */
function queryMembers(query: string): Members {
  const members = new Map<string, unknown>();
  const mapping = new Map<string, string>();
  const twice = new Set<string>();
  for (const [name, value] of parseQuery(query)) {
    const [, schemaId] = mappingEntry.exec(name) ?? [];
    if (schemaId === undefined ? members.has(name) : mapping.has(schemaId)) twice.add(name);
    else if (schemaId !== undefined) mapping.set(schemaId, value);
    else members.set(name, name === 'mapping' || name === 'properties' ? parseJson(value, `The parameter ${name}`) : value);
  }
  if (mapping.size > 0) {
    if (members.has('mapping')) twice.add('mapping');
    members.set('mapping', Object.fromEntries(mapping));
  }
  if (twice.size > 0)
    throw new InvalidInput(Array.from(twice, (name) => ({ path: [name], message: 'is given more than once.' })));
  return Object.fromEntries(members);
}
