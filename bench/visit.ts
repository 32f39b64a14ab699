import type { BenchDatabase } from './database.ts';
import { environmentOf, firstTeamId, Groups } from './load/rows.ts';
import type { Running } from './systems.ts';

/** The groups of one request. */
const groupsPerRequest = 50;

/** The requests in flight. */
const clients = 8;

const names = Array.from({ length: groupsPerRequest }, (_, index) => `t${index}`);
const query = `query (${names.map((name) => `$${name}: String!`).join(' ')}) {
  ${names.map((name) => `${name}: userGroup(by: {token: $${name}}) { teamId }`).join(' ')}
}`;

/**
 * Has a gateway look up every group of a database by its token once.
 *
 * @throws Error on any other response than the expected one.
 */
export async function visitAll({ port }: Running, { tokenFile, credentials, groups }: BenchDatabase): Promise<void> {
  const rows = new Groups(tokenFile);

  async function visit(indexes: readonly number[]): Promise<void> {
    const environment = environmentOf(indexes[0] ?? 0);
    const secret = credentials.find((each) => each.environment === environment)?.secret;
    // A last request with fewer groups than variables repeats the first one.
    const subjects = names.map((_, place) => indexes[place] ?? indexes[0] ?? 0);
    const variables = Object.fromEntries(subjects.map((index, place) => [`t${place}`, rows.token(index)]));
    const response = await fetch(`http://127.0.0.1:${port}/graphql`, {
      method: 'POST',
      headers: { authorization: `Token ${secret}`, 'content-type': 'application/json' },
      body: JSON.stringify({ query, variables }),
    });
    const text = await response.text();
    const { data } = JSON.parse(text) as { data?: Record<string, { teamId: number } | null> };
    const isRight = subjects.every((index, place) => data?.[`t${place}`]?.teamId === firstTeamId + index);
    if (!isRight) throw new Error(`wrong response to look-ups: ${response.status} ${text.slice(0, 1_000)}`);
  }

  // Groups of the two environments alternate.
  let next = 0;
  const visitSome = async () => {
    for (let from = next; from < groups; from = next) {
      next += 2 * groupsPerRequest;
      const all = Array.from({ length: Math.min(2 * groupsPerRequest, groups - from) }, (_, index) => from + index);
      for (const parity of [0, 1]) {
        const some = all.filter((index) => index % 2 === parity);
        if (some.length > 0) await visit(some);
      }
    }
  };
  await Promise.all(Array.from({ length: clients }, visitSome));
}
