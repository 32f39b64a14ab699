import { request as httpRequest } from 'node:http';
import type { BenchDatabase } from './database.ts';
import { type TokenColumns, tokenOf } from './encryption.ts';
import { firstTeamId, newestOf, rowOf, tokenLength } from './load/rows.ts';
import { cursorOf, hole, revisionHole, type WorkloadId, workloads } from './load/workloads.ts';
import type { Running } from './systems.ts';

/** The number that updates of a probe would write, and the name with it; no other update writes it. */
const probeRevision = '1000000';
const probeName = `Name ${probeRevision}`;

/**
 * Checks that a system does all of the work: that it rejects API tokens that are revoked, expired, unknown or without the scope,
 * and respects the caller's environment.
 *
 * @throws Error when it does not.
 */
export async function probe({ system, port }: Running, workload: WorkloadId, database: BenchDatabase): Promise<void> {
  // The baseline does none of it; rest-create is checked as rest-get.
  if (system === 'baseline' || workload === 'rest-create') return;
  const text = 'select token_hash, token_encrypted from user_group where team_id = $1';
  // A Customer's, that the response has: for a list, the newest one.
  const index = workload.startsWith('gql-list') ? newestOf('Customer', database.groups) : 0;
  const [token = ''] = (await database.query<TokenColumns>(text, [firstTeamId + index])).map(tokenOf);
  const { method, path, body, keyLength } = workloads[workload];
  const ownKey = keyLength === tokenLength ? token : rowOf(0).providedId.slice(-7);
  const key = workload === 'gql-list-unshared' ? cursorOf(index + 2) : ownKey;
  const sent = body.replaceAll(hole, key).replaceAll(revisionHole, probeRevision);
  const sendWith = (secret: string) => send(port, method, path, secret, sent);

  for (const [label, secret] of Object.entries(database.invalidCredentials)) {
    const response = await sendWith(secret);
    if (response.includes(token) || /"success":1/.test(response)) {
      throw new Error(`${system} accepts an API token that is ${label}: ${response}`);
    }
  }
  const other = await sendWith(database.credentials.find(({ environment }) => environment === 'Testing')?.secret ?? '');
  if (other.includes(`"${token}"`)) throw new Error(`${system} returns a group of another environment: ${other}`);
  const [kept] = await database.query<{ name: string }>('select name from user_group where team_id = $1', [firstTeamId]);
  if (kept?.name === probeName)
    throw new Error(`${system} changes a group of another environment, or for an API token to refuse`);
}

/** Sends a request with a body on any method. @returns the body of the response. */
function send(port: number, method: string, path: string, secret: string, body: string): Promise<string> {
  const headers = {
    authorization: `Token ${secret}`,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
  };
  return new Promise((resolve, reject) => {
    const request = httpRequest({ host: '127.0.0.1', port, path, method, headers }, async (response) => {
      let text = '';
      for await (const chunk of response) text += chunk;
      resolve(text);
    });
    request.once('error', reject);
    request.end(body);
  });
}
