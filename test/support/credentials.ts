import { createApiToken } from '../../src/api-tokens/api-tokens.ts';
import type { Database } from '../../src/database/client.ts';
import type { EnvironmentTag } from '../../src/generated/prisma/client.ts';
import { type Scope, scopeNames } from '../../src/scopes.ts';
import { issueToken } from '../../src/tokens.ts';
import type { Access, Outcome } from './access-matrix.ts';
import { apiTokenId } from './node-id.ts';
import { contextOn } from './queries.ts';
import type { Reply, RequestOptions } from './request.ts';

/** The gateway on which credentials are tried, and its database. */
export interface AccessGateway {
  readonly database: Database;
  /** Sends a request; a `token` of `null` sends none. */
  send(method: string, path: string, options: RequestOptions): Promise<Reply>;
}

/** Something that a caller presents to be let in. */
export interface PresentedCredential {
  readonly name: string;
  /** The headers that present it. */
  readonly headers: Readonly<Record<string, string>>;
  /** `absent` without an `Authorization` header, `invalid` with one that is rejected, `accepted` with another. */
  readonly kind: 'absent' | 'invalid' | 'accepted';
  /** Whether it is one of another environment than that of the groups, or of none, without the scope `admin`. */
  readonly isElsewhere: boolean;
  /** The number of its API token; none if there is none. */
  readonly apiTokenId?: number;
  /** What should become of an operation with it, by the table of operations. */
  expected(access: Access): Outcome | 'UNAUTHENTICATED';
}

const accessOf = (
  scopes: readonly Scope[],
  environment: EnvironmentTag | null,
): Pick<PresentedCredential, 'isElsewhere' | 'expected'> => {
  const isAdmin = scopes.includes('admin');
  const isElsewhere = !isAdmin && environment !== 'Testing';
  return {
    isElsewhere,
    expected(access) {
      const isEnough = isAdmin || access.scopes.length === 0 || access.scopes.some((scope) => scopes.includes(scope));
      if (!isEnough) return 'FORBIDDEN';
      return isElsewhere ? access.elsewhere : (access.finds ?? 'success');
    },
  };
};

const refused: Pick<PresentedCredential, 'isElsewhere' | 'expected'> = { isElsewhere: false, expected: () => 'UNAUTHENTICATED' };
const tokenHeader = (secret: string) => ({ authorization: `Token ${secret}` });

/** Issues an API token, with `admin` in Testing by default. */
export const issueCredential = (
  { database }: AccessGateway,
  scopes: readonly Scope[] = ['admin'],
  environmentTag: EnvironmentTag | null = 'Testing',
) => createApiToken(contextOn(database), { name: 'test', environmentTag, scopes, expiresAt: null });

/** Credentials that are not accepted, some of which were accepted before. None of them has been rejected before. */
async function issueInvalid(gateway: AccessGateway, userGroupToken: string): Promise<PresentedCredential[]> {
  const admin = tokenHeader((await issueCredential(gateway)).secret);
  const send = async (query: string, headers: Readonly<Record<string, string>>): Promise<Reply> => {
    const reply = await gateway.send('POST', '/graphql', { token: null, headers: { ...headers }, body: { query } });
    if (reply.status !== 200 || reply.json.errors) throw new Error(`${query} failed: ${reply.text}`);
    return reply;
  };
  const issueAccepted = async () => {
    const { secret, apiToken } = await issueCredential(gateway);
    await send('{ caller { name } }', tokenHeader(secret));
    return { secret, id: apiToken.id };
  };
  const [replaced, revoked, expired] = [await issueAccepted(), await issueAccepted(), await issueAccepted()];
  const disabled = await issueAccepted();
  await send(`mutation { updateApiToken(input: { id: "${apiTokenId(disabled.id)}", enabled: false }) { __typename } }`, admin);
  await send(`mutation { rotateApiToken(input: { id: "${apiTokenId(replaced.id)}" }) { __typename } }`, admin);
  await send(`mutation { revokeApiToken(input: { id: "${apiTokenId(revoked.id)}" }) { __typename } }`, admin);
  const data = { expiresAt: new Date(Date.now() - 1) };
  await gateway.database.prisma.apiToken.update({ where: { id: expired.id }, data });
  const embed = `mutation { created: createEmbedToken(input: { by: { token: "${userGroupToken}" } }) { ... on CreateEmbedTokenPayload { token } } }`;
  const malformed = await issueAccepted();
  const secrets: Record<string, { secret: string; id?: number }> = {
    malformed: { ...malformed, secret: `${malformed.secret}0` },
    unknown: { secret: issueToken('apiToken') },
    'a user group token': { secret: userGroupToken },
    'an embed token': { secret: (await send(embed, admin)).json.data.created.token },
    replaced,
    revoked,
    disabled,
    expired,
  };
  return Object.entries(secrets).map(([name, { secret, id }]) => ({
    name,
    headers: tokenHeader(secret),
    kind: 'invalid' as const,
    ...(id !== undefined && { apiTokenId: id }),
    ...refused,
  }));
}

/**
 * Issues a credential of each kind: none, those that are not accepted, each scope, and every scope but `admin` in another
 * environment.
 *
 * @param userGroupToken the current token of a group of Testing.
 */
export async function issueCredentials(gateway: AccessGateway, userGroupToken: string): Promise<PresentedCredential[]> {
  const credentials: PresentedCredential[] = [{ name: 'none', headers: {}, kind: 'absent', ...refused }];
  credentials.push(...(await issueInvalid(gateway, userGroupToken)));
  const lesser = scopeNames.filter((scope) => scope !== 'admin');
  for (const [name, scopes, environment] of [
    ...scopeNames.map((scope) => [scope, [scope], 'Testing'] as const),
    ['every scope but admin in another environment', lesser, 'Customer'] as const,
  ]) {
    const { secret, apiToken } = await issueCredential(gateway, scopes, environment);
    const issued = { name, headers: tokenHeader(secret), kind: 'accepted', apiTokenId: apiToken.id } as const;
    credentials.push({ ...issued, ...accessOf(scopes, environment) });
  }
  return credentials;
}
