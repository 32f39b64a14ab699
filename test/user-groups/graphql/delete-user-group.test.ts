import { afterAll, beforeAll, expect, test } from 'vitest';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { mutate } from '../../support/user-group-mutations.ts';

/** Two gateways on one database. */
let gateways: readonly [TestGateway, TestGateway];
beforeAll(async () => {
  const first = await startGateway();
  gateways = [first, await startGateway(first.database)];
});
afterAll(async () => {
  await gateways[1].close();
  await gateways[0].close();
});

/** The numbers of the groups that tokens identify, as the gateways say in turn; null for none. */
const identify = (tokens: readonly string[]): Promise<(number | null)[]> =>
  Promise.all(
    gateways.flatMap((gateway) =>
      tokens.map(async (token) => {
        const query = 'query ($token: String!) { userGroup(by: { token: $token }) { teamId } }';
        const { json } = await gateway.graphql(query, { token }, { token: gateways[0].token });
        return json.data.userGroup?.teamId ?? null;
      }),
    ),
  );

test('a deleted group is gone on every gateway at the next request, with its current and replaced tokens', async () => {
  const [gateway] = gateways;
  const { userGroup } = await mutate(gateway, 'getOrCreateUserGroup', { providedId: 'acme' });
  const rotated = await mutate(gateway, 'rotateUserGroupToken', { currentToken: userGroup.token, graceSeconds: 600 });
  const tokens = [userGroup.token, rotated.userGroup.token];
  expect(await identify(tokens)).toEqual(Array(4).fill(userGroup.teamId));

  const result = await mutate(gateway, 'deleteUserGroup', { by: { providedId: 'acme' } });
  expect(result).toEqual({ __typename: 'DeleteUserGroupPayload', deletedId: userGroup.id });
  expect(await identify(tokens)).toEqual(Array(4).fill(null));
  expect(await gateway.database.prisma.retiredToken.count({ where: { teamId: userGroup.teamId } })).toBe(0);
  for (const currentToken of tokens) {
    expect((await mutate(gateway, 'rotateUserGroupToken', { currentToken })).code).toBe('NOT_FOUND');
  }
  const node = await gateway.graphql('query ($id: ID!) { node(id: $id) { id } }', { id: userGroup.id });
  expect(node.json.data.node).toBeNull();
  expect((await mutate(gateway, 'deleteUserGroup', { by: { id: userGroup.id } })).code).toBe('NOT_FOUND');
});

test('the id of a deleted group can be used again, in any environment, by a group with another number and token', async () => {
  const [gateway, other] = gateways;
  const { secret: untagged } = await gateway.issue({ environment: null });
  const { userGroup: first } = await mutate(gateway, 'getOrCreateUserGroup', { providedId: 'again' });
  await mutate(gateway, 'deleteUserGroup', { by: { providedId: 'again' } });
  const second = await mutate(other, 'getOrCreateUserGroup', { providedId: 'again' }, untagged);
  expect(second).toMatchObject({ created: true, userGroup: { environmentTag: null } });
  expect(second.userGroup.teamId).not.toBe(first.teamId);
  expect(second.userGroup.token).not.toBe(first.token);
});

test('of concurrent deletions of one group exactly one succeeds', async () => {
  for (let round = 0; round < 3; round += 1) {
    const providedId = `deleted once ${round}`;
    await mutate(gateways[0], 'getOrCreateUserGroup', { providedId });
    const attempts = Array.from({ length: 10 }, (_, index) => gateways[index % 2] as TestGateway);
    const results = await Promise.all(
      attempts.map((gateway) => mutate(gateway, 'deleteUserGroup', { by: { providedId } }, gateways[0].token)),
    );
    expect(results.map(({ code }) => code ?? 'deleted').sort()).toEqual([...Array(9).fill('NOT_FOUND'), 'deleted']);
  }
});
