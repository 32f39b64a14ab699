import type { HostileScenario } from '../hostile-scenario.ts';

/**
 * The same body over many connections concurrently: without a credential, and with one, because without one a body may be no
 * larger than an eighth of this.
 */
const flood = (name: string, make: () => string): HostileScenario => ({
  name,
  expects: ['4xx', '503'],
  someExpect: ['4xx'],
  send: async ({ send, tokens }) => {
    const body = Buffer.from(make());
    const headers = { accept: 'application/graphql-response+json' };
    return Promise.all(Array.from({ length: 32 }, (_, i) => send({ body, headers, token: i % 2 ? tokens.groups : undefined })));
  },
});

const members = (count: number, member: (i: number) => string) =>
  `{${Array.from({ length: count }, (_, i) => member(i)).join()}}`;

/** Bodies of 1 MiB that are slow to parse. */
export const bodyScenarios: readonly HostileScenario[] = [flood('body-of-members', () => members(90_000, (i) => `"m${i}":1`))];
