import type { Writable } from 'node:stream';
import type { IssuedApiToken } from '../domain/api-tokens.ts';
import { describeScope, type Scope, scopeNames } from '../domain/caller.ts';
import type { ApiToken } from '../generated/prisma/client.ts';
import { escapeControls, escapeJson } from '../terminal-text.ts';

/** The default scopes of an API token. */
export const defaultScopes: readonly Scope[] = ['groups:read', 'groups:write'];

const widestScope = Math.max(...scopeNames.map(({ length }) => length));
const scopeLines = scopeNames.map((scope) => `  ${scope.padEnd(widestScope)}  ${describeScope(scope)}`);

/** What `token --help` prints. */
export const tokenHelp = `Usage:
  user-group-gateway token create --name N --environment Customer|Testing|none [--scope S]... [--expires-in 90d] [--json]
  user-group-gateway token list [--json]
  user-group-gateway token rotate ID [--overlap 1h] [--json]
  user-group-gateway token revoke ID

create and rotate print the secret once; only its hash is stored.
  --name         what the API token is for
  --environment  the environment it has access to; none means untagged groups. On a terminal, prompted for if omitted
  --scope        what it allows; may be repeated (default: ${defaultScopes.join(' ')})
  --expires-in   a number and a unit: 30m, 12h, 90d, 52w (default: never)
  --overlap      how long the replaced secret stays accepted, at most 7d (default: 0; it, and any replaced earlier, stop at once)
  --json         one JSON object instead of text

Scopes:
${scopeLines.join('\n')}
`;

/** An API token as a line of text, without its secret. */
export function describeApiToken(apiToken: ApiToken): string {
  const { id, name, environmentTag, scopes, createdAt, expiresAt, lastUsedAt, revokedAt } = apiToken;
  const times = { created: createdAt, expires: expiresAt, 'last used': lastUsedAt, revoked: revokedAt };
  const known = Object.entries(times).flatMap(([what, when]) => (when ? [`${what} ${when.toISOString()}`] : []));
  return [`#${id}  ${escapeControls(name)}`, environmentTag ?? 'no environment', scopes.join(' '), ...known].join('  ·  ');
}

/** Whether an argument can be the number of an API token. */
export const isApiTokenId = (text: string): boolean => /^\d{1,10}$/.test(text) && Number(text) < 2 ** 31;

/**
 * Prints an API token with its secret, as text or as one JSON object. A secret that cannot be written is lost, which is said.
 *
 * @returns the exit status.
 */
export async function printIssued(
  { stdout, stderr }: { readonly stdout: Writable; readonly stderr: Writable },
  { secret, apiToken }: IssuedApiToken,
  asJson: boolean,
): Promise<number> {
  const { id, name, environmentTag, scopes, expiresAt } = apiToken;
  const members = { id, token: secret, name, environment: environmentTag, scopes, expiresAt };
  const text = `${describeApiToken(apiToken)}\n\nThe API token (shown only once):\n\n  ${secret}\n`;
  const shown = `${asJson ? escapeJson(JSON.stringify(members)) : text}\n`;
  const failure = await new Promise<Error | null | undefined>((resolve) => stdout.write(shown, resolve));
  if (!failure) return 0;
  stderr.write(
    `The secret of the API token #${id} was not shown, because the output cannot be written (${failure.message}), and is not stored. ` +
      `Run \`token rotate ${id}\` to get another one.\n`,
  );
  return 1;
}
