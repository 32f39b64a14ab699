import { digitsOf, environmentOf, type Groups, rowOf, tokenLength } from './rows.ts';

/** What can be measured. */
export const workloadIds = ['gql-token', 'rest-get', 'rest-create', 'rest-rotate', 'rest-update'] as const;

/** The name of a workload. */
export type WorkloadId = (typeof workloadIds)[number];

/** How a workload asks, and what it must be answered. Every request of a workload has the same length, and so has its answer. */
export interface Workload {
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly path: string;
  /** The request's body, with {@link hole} where the key goes, and {@link revisionHole} where an update's number goes. */
  readonly body: string;
  /** How many bytes the key has. */
  readonly keyLength: number;
  /** Chooses what the next request is about. */
  next(groups: Groups): number;
  /** Writes the key of what was chosen. */
  writeKey(groups: Groups, subject: number, request: Buffer, at: number): void;
  /** The answer to the first group, to tell its length by, and for a server that answers nothing else. */
  readonly specimen: string;
  /** How much longer than the specimen the answer is: environments have names of different lengths. */
  longer(subject: number): number;
  /** Whether an answer, parsed, is the right one. */
  expected(groups: Groups, subject: number, answer: unknown): unknown;
  /** Takes note of an answer, once it is verified. */
  settle?(groups: Groups, subject: number, body: Buffer): void;
}

/** Stands for the key in a body. */
export const hole = '\u0000';

/** Stands for the seven digits of {@link Groups.revision} in a body. */
export const revisionHole = '\u0001';

/** The document of `gql-token`: the embed backend's question on every dashboard view. */
const document = 'query ($token: String!) { userGroup(by: {token: $token}) { teamId providedId name token environmentTag } }';

const anyToken = `ugt_${'0'.repeat(tokenLength - 4)}`;
const customerIsLonger = (subject: number): number => (environmentOf(subject) === 'Customer' ? 0 : -1);
const writeDigits = (subject: number, request: Buffer, at: number) => void request.write(digitsOf(subject), at, 'latin1');
const userGroupOf = (answer: unknown): Record<string, unknown> =>
  (answer as { user_group?: Record<string, unknown> } | null)?.user_group ?? {};
const isToken = (token: unknown) => typeof token === 'string' && /^ugt_[0-9A-Za-z]{36}$/.test(token);

const graphqlAnswer = (subject: number, token: string) => {
  const { teamId, providedId, name, environment } = rowOf(subject);
  return { data: { userGroup: { teamId, providedId, name, token, environmentTag: environment.toUpperCase() } } };
};

const getAnswer = (subject: number, token: string) => {
  const { teamId, providedId, name, properties } = rowOf(subject);
  return { success: 1, new_user_group: false, user_group: { team_id: teamId, token, name, provided_id: providedId, properties } };
};

const createAnswer = (subject: number, teamId: unknown, token: unknown) => {
  const [name, provided_id] = [`Fresh ${digitsOf(subject)}`, `fresh-${digitsOf(subject)}`];
  return { success: 1, new_user_group: true, user_group: { team_id: teamId, token, name, provided_id, properties: null } };
};

const rotateAnswer = (subject: number, token: unknown) => {
  const { teamId, providedId, name, environment } = rowOf(subject);
  const user_group = { team_id: teamId, token, name, provided_id: providedId, api_environment_tag: environment };
  return { success: 1, user_group };
};

const updateAnswer = (subject: number, revision: number, token: unknown) => {
  const { teamId, providedId, environment } = rowOf(subject);
  const [name, properties] = [`Name ${revision}`, { country: 'BE', revision }];
  const user_group = { team_id: teamId, token, name, provided_id: providedId, properties, api_environment_tag: environment };
  return { success: 1, user_group };
};

/** How many groups `rest-create` has asked for in this process; each is asked for once. */
let created = 0;

/** Every workload, by its name. */
export const workloads: Readonly<Record<WorkloadId, Workload>> = {
  'gql-token': {
    ...{ method: 'POST', path: '/graphql', keyLength: tokenLength },
    body: JSON.stringify({ query: document, variables: { token: 'KEY' } }).replace('KEY', hole),
    next: (groups) => groups.draw(),
    writeKey: (groups, subject, request, at) => groups.copyToken(subject, request, at),
    specimen: JSON.stringify(graphqlAnswer(0, anyToken)),
    longer: customerIsLonger,
    expected: (groups, subject) => graphqlAnswer(subject, groups.token(subject)),
  },
  'rest-get': {
    ...{ method: 'GET', path: '/api/user', keyLength: 7 },
    body: `{"name":"Any name","user_group_id":"group-${hole}"}`,
    next: (groups) => groups.draw(),
    writeKey: (_, subject, request, at) => writeDigits(subject, request, at),
    specimen: JSON.stringify(getAnswer(0, anyToken)),
    longer: () => 0,
    expected: (groups, subject) => getAnswer(subject, groups.token(subject)),
  },
  'rest-create': {
    ...{ method: 'GET', path: '/api/user', keyLength: 7 },
    body: `{"user_group_id":"fresh-${hole}","name":"Fresh ${hole}"}`,
    next: () => created++,
    writeKey: (_, subject, request, at) => writeDigits(subject, request, at),
    specimen: JSON.stringify(createAnswer(0, rowOf(0).teamId, anyToken)),
    longer: () => 0,
    expected(_, subject, answer) {
      const { team_id, token } = userGroupOf(answer);
      const known = Number.isInteger(team_id) && isToken(token);
      return createAnswer(subject, known ? team_id : 'a number', known ? token : 'a token');
    },
  },
  'rest-rotate': {
    ...{ method: 'POST', path: '/api/user', keyLength: tokenLength },
    body: `{"current_token":"${hole}"}`,
    next: (groups) => groups.drawIdle(),
    writeKey: (groups, subject, request, at) => groups.copyToken(subject, request, at),
    specimen: JSON.stringify(rotateAnswer(0, anyToken)),
    longer: customerIsLonger,
    expected(groups, subject, answer) {
      const { token } = userGroupOf(answer);
      const fresh = isToken(token) && token !== groups.token(subject);
      return rotateAnswer(subject, fresh ? token : 'a new token');
    },
    settle(groups, subject, body) {
      groups.replaceToken(subject, body, body.indexOf('"token":"') + 9);
    },
  },
  'rest-update': {
    ...{ method: 'PUT', path: '/api/user', keyLength: 7 },
    body: `{"user_group_id":"group-${hole}","name":"Name ${revisionHole}","properties":{"country":"BE","revision":${revisionHole}}}`,
    next(groups) {
      const subject = groups.drawIdle();
      groups.revise(subject);
      return subject;
    },
    writeKey: (_, subject, request, at) => writeDigits(subject, request, at),
    specimen: JSON.stringify(updateAnswer(0, 1_000_000, anyToken)),
    longer: customerIsLonger,
    expected: (groups, subject) => updateAnswer(subject, groups.revision(subject), groups.token(subject)),
    settle: (groups, subject) => groups.settleRevision(subject),
  },
};
