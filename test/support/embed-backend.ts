import { expect, onTestFinished } from 'vitest';
import { UserGroupGateway } from '../../client/src/index.ts';
import type { TestDatabase } from './database.ts';
import { verifyRemotely } from './embed-tokens.ts';
import { startGateway } from './gateway.ts';
import { type Running, until } from './process.ts';
import { sendUnchecked } from './send-unchecked.ts';
import { forgedToken } from './tokens.ts';

/** A gateway with a group, on a database of its own or a given one, and an example's embed backend in a process of its own. */
export async function startEmbedBackend(launchBackend: (settings: Record<string, string>) => Running, database?: TestDatabase) {
  const gateway = await startGateway(database);
  onTestFinished(() => gateway.close());
  const { secret } = await gateway.issue({ scopes: ['groups:resolve', 'embed:sign'] });
  const client = new UserGroupGateway({ url: gateway.url, apiToken: gateway.token });
  const { userGroup } = await client.userGroups.getOrCreate({ providedId: 'acme', name: 'Grüße & <b>ACME</b>' });
  const { output, child } = launchBackend({ GATEWAY: gateway.url, API_TOKEN: secret });
  const url = await until(() => {
    if (child.exitCode !== null) throw new Error(`The backend ended: ${output.stderr}`);
    return /listening on (http:\/\/\S+)/.exec(output.stderr)?.[1];
  }, 'the backend listens');
  /** Sends a request as the browser of a user does who has signed in with a token. */
  const browse = (path: string, token: string | null) =>
    sendUnchecked(url, 'GET', path, { headers: token === null ? {} : { cookie: `token=${token}` } });
  return { gateway, client, userGroup, url, browse };
}

type EmbedBackend = Awaited<ReturnType<typeof startEmbedBackend>>;

const data = ({ url }: EmbedBackend, embedToken: string) =>
  sendUnchecked(url, 'GET', '/data', { headers: { authorization: `Bearer ${embedToken}` } });

/** Checks what a user sees: the group of the token, and nothing without one. @returns an embed token of the group. */
export async function checkViewer(started: EmbedBackend): Promise<string> {
  const { gateway, client, userGroup, url, browse } = started;
  const hidden = async (token: string | null) => {
    for (const path of ['/', '/embed-token']) {
      const { status, text } = await browse(path, token);
      expect([path, status]).toEqual([path, 401]);
      expect(text).not.toContain('ACME');
    }
  };
  const shown = async (token: string) => {
    const { status, headers, text } = await browse('/', token);
    expect([status, headers.get('cache-control')]).toEqual([200, 'no-store']);
    expect(text).toMatch(/<h1>Dashboard of Grüße &amp; &lt;b&gt;ACME&lt;\/b&gt;<\/h1>/);
  };
  const body = new URLSearchParams({ token: userGroup.token }).toString();
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  const signedIn = await sendUnchecked(url, 'POST', '/sign-in', { body, headers: form });
  expect([signedIn.status, signedIn.headers.get('location')]).toEqual([303, '/']);
  expect(signedIn.headers.get('set-cookie')).toMatch(new RegExp(`^token=${userGroup.token};(?=.*HttpOnly).*SameSite=Strict`));

  // A token of an imported group may have any characters.
  const odd = 'a "b"; c%20,\ufffd';
  const oddBody = new URLSearchParams({ token: odd }).toString();
  const { headers } = await sendUnchecked(url, 'POST', '/sign-in', { body: oddBody, headers: form });
  const [, cookie = ''] = /^token=([^;]*)/.exec(headers.get('set-cookie') ?? '') ?? [];
  expect(new URLSearchParams(`token=${cookie}`).get('token')).toBe(odd);
  await hidden(cookie);

  await shown(userGroup.token);
  for (const token of [null, '', 'x', forgedToken('userGroup'), 'x'.repeat(5_000)]) await hidden(token);

  const { json } = await browse('/embed-token', userGroup.token);
  const { payload } = await verifyRemotely(gateway.url, json.token, { issuer: `${gateway.url}/testing`, audience: 'dashboards' });
  expect(payload).toMatchObject({ sub: 'acme', team_id: userGroup.teamId });
  expect(await data(started, json.token)).toMatchObject({ status: 200, json: { sales_of: 'acme' } });
  const [header, , signature] = json.token.split('.');
  const forged = `${header}.${Buffer.from('{"sub":"other"}').toString('base64url')}.${signature}`;
  for (const token of ['', 'x', userGroup.token, forged]) expect(await data(started, token)).toMatchObject({ status: 401 });

  const { userGroup: rotated } = await client.userGroups.rotateToken({ currentToken: userGroup.token });
  await hidden(userGroup.token);
  await shown(rotated.token);
  const by = { id: userGroup.id };
  await client.userGroups.suspend({ by });
  await hidden(rotated.token);
  await client.userGroups.resume({ by });
  await shown(rotated.token);
  return json.token;
}

/** Stops the gateway, and checks that the backend then shows nothing and says when to try again. */
export async function checkUnavailable({ gateway, userGroup, browse }: EmbedBackend): Promise<void> {
  gateway.server.close();
  gateway.server.closeAllConnections();
  for (const path of ['/', '/embed-token']) {
    const { status, headers, text } = await browse(path, userGroup.token);
    expect([status, Number(headers.get('retry-after')) >= 1]).toEqual([503, true]);
    expect(text).not.toContain('ACME');
  }
}

/** The status of the data of a dashboard, for an embed token. */
export const dataStatus = async (started: EmbedBackend, embedToken: string) => (await data(started, embedToken)).status;
