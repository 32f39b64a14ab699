import { parseArgs } from 'node:util';
import { issueApiToken, listApiTokens, revokeApiToken } from '../domain/api-tokens.ts';
import { type Scope, scopes } from '../domain/caller.ts';
import type { ApiToken } from '../generated/prisma/client.ts';
import { withDatabase } from './context.ts';
import { UsageError } from './usage-error.ts';

/** What `token --help` prints. */
const tokenHelp = `Usage:
  user-group-gateway token create --name N [--environment Customer|Testing|none] [--scope S]... [--expires-in 90d] [--json]
  user-group-gateway token list [--json]
  user-group-gateway token revoke ID

create prints the secret once; only its hash is stored.
  --name         what the token is for
  --environment  the environment its caller works in (default: none, untagged)
  --scope        groups:read, groups:write, config:validate or admin; may be repeated (default: groups:read groups:write)
  --expires-in   a number and a unit: 30m, 12h, 90d, 52w (default: never)
  --json         one JSON object instead of text
`;

/** `token create|list|revoke`: API tokens, from the operator's side. Works while the server runs. */
export async function token([action, ...args]: string[]): Promise<number> {
  if (action === '--help' || args.includes('--help')) {
    process.stdout.write(tokenHelp);
    return 0;
  }
  switch (action) {
    case 'create':
      return create(args);
    case 'list':
      return list(args);
    case 'revoke':
      return revoke(args);
    default:
      throw new UsageError(`${action ? `There is no "token ${action}".` : 'What about tokens?'}\n\n${tokenHelp}`);
  }
}

async function create(args: string[]): Promise<number> {
  const { values } = parse(args, {
    name: { type: 'string' },
    environment: { type: 'string' },
    scope: { type: 'string', multiple: true },
    'expires-in': { type: 'string' },
    json: { type: 'boolean' },
  });
  const { name, environment = 'none', scope = ['groups:read', 'groups:write'], json } = values;
  if (!name) throw new UsageError('token create needs --name: what the token is for.');
  if (environment !== 'Customer' && environment !== 'Testing' && environment !== 'none') {
    throw new UsageError(`--environment must be Customer, Testing or none, not ${environment}.`);
  }
  const unknown = scope.find((each) => !scopes.includes(each as Scope));
  if (unknown !== undefined) throw new UsageError(`--scope must be one of ${scopes.join(', ')}, not ${unknown}.`);
  const expiresIn = values['expires-in'];
  const expiresAt = expiresIn === undefined ? null : new Date(Date.now() + durationMs(expiresIn));
  const environmentTag = environment === 'none' ? null : environment;

  return withDatabase(async ({ database }) => {
    const { secret, apiToken } = await issueApiToken(database.prisma, { name, environmentTag, scopes: scope, expiresAt });
    if (json) {
      const { id } = apiToken;
      print(
        JSON.stringify({
          id,
          token: secret,
          name,
          environment: environmentTag,
          scopes: apiToken.scopes,
          expiresAt: apiToken.expiresAt,
        }),
      );
    } else {
      print(`${describe(apiToken)}\n\nThe API token, shown only now:\n\n  ${secret}\n`);
    }
    return 0;
  });
}

async function list(args: string[]): Promise<number> {
  const { values } = parse(args, { json: { type: 'boolean' } });
  return withDatabase(async ({ database }) => {
    const apiTokens = await listApiTokens(database.prisma);
    if (values.json) print(JSON.stringify(apiTokens.map(withoutHash)));
    else print(apiTokens.map(describe).join('\n') || 'There are no API tokens. `token create` makes one.');
    return 0;
  });
}

async function revoke(args: string[]): Promise<number> {
  const { positionals } = parse(args, {}, true);
  const [id] = positionals;
  if (positionals.length !== 1 || !id || !/^\d{1,9}$/.test(id)) {
    throw new UsageError('token revoke needs one id, a number. `token list` shows them.');
  }
  return withDatabase(async ({ database }) => {
    print(`${describe(await revokeApiToken(database.prisma, Number(id)))}`);
    return 0;
  });
}

function parse<Options extends NonNullable<Parameters<typeof parseArgs>[0]>['options']>(
  args: string[],
  options: Options,
  allowPositionals = false,
) {
  try {
    return parseArgs({ args, options: options as NonNullable<Options>, allowPositionals });
  } catch (error) {
    throw new UsageError(`${(error as Error).message}\n\n${tokenHelp}`);
  }
}

const unitsMs: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

function durationMs(text: string): number {
  const [, amount = '', unit = ''] = /^(\d{1,6})([mhdw])$/.exec(text) ?? [];
  const durationInMs = Number(amount) * (unitsMs[unit] ?? 0);
  if (durationInMs > 0 && durationInMs <= 100 * 52 * 604_800_000) return durationInMs;
  throw new UsageError(`--expires-in must be a number and a unit, such as 30m, 12h, 90d or 52w, not ${text}.`);
}

function describe({ id, name, environmentTag, scopes, createdAt, expiresAt, lastUsedAt, revokedAt }: ApiToken): string {
  const times = { created: createdAt, expires: expiresAt, 'last used': lastUsedAt, revoked: revokedAt };
  const told = Object.entries(times).flatMap(([what, when]) => (when ? [`${what} ${when.toISOString()}`] : []));
  return [`#${id}  ${name}`, environmentTag ?? 'no environment', scopes.join(' '), ...told].join('  ·  ');
}

function withoutHash({ secretHash: _, environmentTag, ...rest }: ApiToken): object {
  return { ...rest, environment: environmentTag };
}

const print = (text: string): void => void process.stdout.write(`${text}\n`);
