import { writeCursor } from '../../src/database/list.ts';
import {
  anyToken,
  createResponse,
  getResponse,
  graphqlResponse,
  graphqlRotateResponse,
  isToken,
  listResponse,
  pageLength,
  rotatedToken,
  rotateResponse,
  updateResponse,
  userGroupOf,
} from './responses.ts';
import { digitsOf, environmentOf, type Groups, newestOf, rowOf, tokenLength } from './rows.ts';

/** The names of the workloads. */
export const workloadIds = [
  'gql-token',
  'gql-unseen',
  'gql-list',
  'gql-list-unshared',
  'gql-rotate-keyed',
  'rest-get',
  'rest-create',
  'rest-rotate',
  'rest-update',
  'rest-update-keyed',
] as const;

/** The name of a workload. */
export type WorkloadId = (typeof workloadIds)[number];

/** The requests of a workload and their expected responses. All its requests have the same length, and so have its responses. */
export interface Workload {
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly path: string;
  /** The request's body, with {@link hole} in the place of the key, and {@link revisionHole} in that of an update's number. */
  readonly body: string;
  /** The length of the key in bytes. */
  readonly keyLength: number;
  /** Whether each request has an `Idempotency-Key` of its own. */
  readonly isIdempotent?: boolean;
  /** What its requests write, if they write. */
  readonly writes?: 'group' | 'token' | 'properties';
  /** Chooses the subject of the next request. */
  next(groups: Groups): number;
  /** Writes the key of the subject. */
  writeKey(groups: Groups, subject: number, request: Buffer, at: number): void;
  /** The response for the first group: determines the length, and is the constant response of the baseline. */
  readonly specimen: string;
  /** How much longer than the specimen the response is, because environments have names of different lengths. */
  longer(subject: number): number;
  /** The expected response; may depend on the parsed actual one. */
  expected(groups: Groups, subject: number, response: unknown): unknown;
  /** Records a verified response. */
  settle?(groups: Groups, subject: number, body: Buffer): void;
}

/** The placeholder of the key in a body. */
export const hole = '\u0000';

/** The placeholder of the seven digits of {@link Groups.revision} in a body. */
export const revisionHole = '\u0001';

/** The document of `gql-token`: what an embed backend sends for every dashboard view. */
const document = 'query ($token: String!) { userGroup(by: {token: $token}) { teamId providedId name token environmentTag } }';

/** The document of `gql-unseen`: each request has another one, as of clients that write values into their documents. */
const literalDocument = '{ userGroup(by: {token: "KEY"}) { teamId providedId name token environmentTag } }';

/** The document of `gql-list`: the first page of the console. */
const listDocument = '{ userGroups(first: 20) { nodes { teamId providedId name token environmentTag } } }';

/** The document of `gql-list-unshared`: any further page. */
const pageDocument =
  'query ($after: String!) { userGroups(first: 20, after: $after) { nodes { teamId providedId name token environmentTag } } }';

/** The document of `gql-rotate-keyed`. */
const rotateDocument =
  'mutation ($token: String!) { rotateUserGroupToken(input: {currentToken: $token}) ' +
  '{ ... on RotateUserGroupTokenPayload { userGroup { teamId providedId name token environmentTag } } } }';

/** The cursor of a group in the order of {@link pageDocument}, as JSON. */
export function cursorOf(subject: number): string {
  const { createdAtMs, teamId } = rowOf(subject);
  return JSON.stringify(writeCursor('UserGroup.createdAt', [new Date(createdAtMs), teamId]));
}

const customerIsLonger = (subject: number): number => (environmentOf(subject) === 'Customer' ? 0 : -1);
const writeDigits = (subject: number, request: Buffer, at: number) => void request.write(digitsOf(subject), at, 'latin1');

/** What look-ups by token over GraphQL have in common: all but the body. */
const byToken = {
  method: 'POST',
  path: '/graphql',
  keyLength: tokenLength,
  next: (groups: Groups) => groups.draw(),
  writeKey: (groups: Groups, subject: number, request: Buffer, at: number) => groups.copyToken(subject, request, at),
  specimen: JSON.stringify(graphqlResponse(0, anyToken)),
  longer: customerIsLonger,
  expected: (groups: Groups, subject: number) => graphqlResponse(subject, groups.token(subject)),
} as const;

/** What `rest-update` and `rest-update-keyed` have in common: all but the header. */
const update: Workload = {
  method: 'PUT',
  path: '/api/user',
  keyLength: 7,
  writes: 'properties',
  body: `{"user_group_id":"group-${hole}","name":"Name ${revisionHole}","properties":{"country":"BE","revision":${revisionHole}}}`,
  next(groups) {
    const subject = groups.drawIdle();
    groups.revise(subject);
    return subject;
  },
  writeKey: (_, subject, request, at) => writeDigits(subject, request, at),
  specimen: JSON.stringify(updateResponse(0, 1_000_000, anyToken)),
  longer: customerIsLonger,
  expected: (groups, subject) => updateResponse(subject, groups.revision(subject), groups.token(subject)),
  settle: (groups, subject) => groups.settleRevision(subject),
};

/** What lists have in common: the response is a page of the environment of the group that was drawn. */
const list = {
  method: 'POST',
  path: '/graphql',
  specimen: JSON.stringify(listResponse(2 * pageLength, () => anyToken)),
  longer: (subject: number) => pageLength * customerIsLonger(subject),
} as const;

/** The length of a Customer's {@link cursorOf}, which is the longer one. */
const cursorLength = cursorOf(0).length;

/** What rotations have in common. */
const rotation = {
  method: 'POST',
  keyLength: tokenLength,
  writes: 'token',
  next: (groups: Groups) => groups.drawIdle(),
  writeKey: (groups: Groups, subject: number, request: Buffer, at: number) => groups.copyToken(subject, request, at),
  longer: customerIsLonger,
  settle: (groups: Groups, subject: number, body: Buffer) => {
    groups.replaceToken(subject, body, body.indexOf('"token":"') + 9);
  },
} as const;

/** How many groups `rest-create` has requested in this process; each is requested once. */
let created = 0;

/** Every workload, by its name. */
export const workloads: Readonly<Record<WorkloadId, Workload>> = {
  'gql-token': {
    ...byToken,
    body: JSON.stringify({ query: document, variables: { token: 'KEY' } }).replace('KEY', hole),
  },
  'gql-unseen': {
    ...byToken,
    body: JSON.stringify({ query: literalDocument }).replace('KEY', hole),
  },
  // The newest groups of the environment of the group that was drawn.
  'gql-list': {
    ...list,
    keyLength: 0,
    body: JSON.stringify({ query: listDocument }),
    next: (groups) => groups.draw(),
    writeKey: () => {},
    expected: (groups, subject) => listResponse(newestOf(environmentOf(subject), groups.count), (one) => groups.token(one)),
  },
  // Those before the group that was drawn. A cursor is as long as the name of its environment, so spaces follow the shorter one.
  'gql-list-unshared': {
    ...list,
    keyLength: cursorLength,
    body: JSON.stringify({ query: pageDocument, variables: { after: 'KEY' } }).replace('"KEY"', hole),
    next(groups) {
      for (;;) {
        const subject = groups.draw();
        if (subject >= 2 * pageLength) return subject;
      }
    },
    writeKey: (_, subject, request, at) => void request.write(cursorOf(subject).padEnd(cursorLength), at, 'latin1'),
    expected: (groups, subject) => listResponse(subject - 2, (one) => groups.token(one)),
  },
  'gql-rotate-keyed': {
    ...rotation,
    path: '/graphql',
    isIdempotent: true,
    body: JSON.stringify({ query: rotateDocument, variables: { token: 'KEY' } }).replace('KEY', hole),
    specimen: JSON.stringify(graphqlRotateResponse(0, anyToken)),
    expected(groups, subject, response) {
      const { data } = response as { data?: { rotateUserGroupToken?: { userGroup?: { token?: unknown } } } };
      return graphqlRotateResponse(subject, rotatedToken(groups, subject, data?.rotateUserGroupToken?.userGroup?.token));
    },
  },
  'rest-get': {
    method: 'GET',
    path: '/api/user',
    keyLength: 7,
    body: `{"name":"Any name","user_group_id":"group-${hole}"}`,
    next: (groups) => groups.draw(),
    writeKey: (_, subject, request, at) => writeDigits(subject, request, at),
    specimen: JSON.stringify(getResponse(0, anyToken)),
    longer: () => 0,
    expected: (groups, subject) => getResponse(subject, groups.token(subject)),
  },
  'rest-create': {
    method: 'GET',
    path: '/api/user',
    keyLength: 7,
    writes: 'group',
    body: `{"user_group_id":"fresh-${hole}","name":"Fresh ${hole}"}`,
    next: () => created++,
    writeKey: (_, subject, request, at) => writeDigits(subject, request, at),
    specimen: JSON.stringify(createResponse(0, rowOf(0).teamId, anyToken)),
    longer: () => 0,
    expected(_, subject, response) {
      const { team_id, token } = userGroupOf(response);
      const known = Number.isInteger(team_id) && isToken(token);
      return createResponse(subject, known ? team_id : 'a number', known ? token : 'a token');
    },
  },
  'rest-rotate': {
    ...rotation,
    path: '/api/user',
    body: `{"current_token":"${hole}"}`,
    specimen: JSON.stringify(rotateResponse(0, anyToken)),
    expected: (groups, subject, response) =>
      rotateResponse(subject, rotatedToken(groups, subject, userGroupOf(response)['token'])),
  },
  'rest-update': update,
  'rest-update-keyed': { ...update, isIdempotent: true },
};
