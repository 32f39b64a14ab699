import type { EventType } from './audit-log/events.ts';
import type { Sql } from './database/client.ts';
import { Forbidden, Unauthenticated } from './errors.ts';
import type { ActorKind, ApiToken, EnvironmentTag, Prisma } from './generated/prisma/client.ts';
import { grantedBy, type Scope } from './scopes.ts';

/** The error message when no credential was sent and one is required. */
export const credentialRequired = 'No API token was sent. Send the header "Authorization: Token <API_TOKEN>".';

/** An accepted API token, without the hash of its secret. */
export type Credential = Omit<ApiToken, 'secretHash' | 'revokedAt'>;

/** How many requests an API token may send in 60 seconds; 0: any number. @param generalLimit for those without their own. */
export const rateLimitOf = ({ rateLimit }: { readonly rateLimit: number | null }, generalLimit: number): number =>
  rateLimit ?? generalLimit;

/** The caller of a request: the holder of an API token, or anonymous. */
export class Caller {
  /** The API token that the request is authenticated with; none means anonymous. */
  readonly apiToken: Credential | undefined;
  /** Kept, because a stored token decodes its scopes each time they are read. */
  private readonly held: readonly string[] | undefined;
  private readonly requestId: string | undefined;
  /** A command, or the gateway itself, which may do everything. */
  private trusted: Author | undefined;

  /** @param requestId the id of the request: at most 128 characters. */
  constructor(apiToken: Credential | undefined, requestId?: string) {
    this.apiToken = apiToken;
    this.requestId = requestId;
    this.held = apiToken?.scopes;
  }

  /** The caller without a credential: every `require` fails. */
  static readonly anonymous = new Caller(undefined);

  /** A command, or the gateway itself: it may do everything, in every environment. */
  static trusted(author: Author): Caller {
    const caller = new Caller(undefined);
    caller.trusted = author;
    return caller;
  }

  /** What queues are fair between. */
  get queueKey(): number | undefined {
    return this.apiToken?.id;
  }

  /** Who the audit log names for the changes of this request. @throws Unauthenticated for an anonymous caller. */
  get author(): Author {
    this.requireCredential();
    if (this.trusted) return this.trusted;
    const { id = null, name = '' } = this.apiToken ?? {};
    return { kind: 'API_TOKEN', name, apiTokenId: id, requestId: this.requestId ?? null };
  }

  /** The environment of groups that this caller creates; `null` means untagged. */
  get environmentTag(): EnvironmentTag | null {
    return this.apiToken?.environmentTag ?? null;
  }

  /**
   * Requires one of these scopes. Synchronous, so that a missing `await` cannot skip the check.
   *
   * @throws Unauthenticated for an anonymous caller.
   * @throws Forbidden when the API token has none of them, none that includes one, and not `admin`.
   */
  require(...anyOf: readonly [Scope, ...Scope[]]): void {
    this.requireCredential();
    if (anyOf.some((scope) => this.has(scope))) return;
    const sufficient = [...new Set(anyOf.flatMap((scope) => grantedBy.get(scope) ?? []))].join(' or ');
    throw new Forbidden(`This requires the scope ${sufficient}, which the API token does not have.`);
  }

  /** Requires an API token. @throws Unauthenticated for an anonymous caller. */
  requireCredential(): void {
    if (!this.apiToken && !this.trusted) throw new Unauthenticated(credentialRequired);
  }

  /**
   * The environment of a call that may specify one: that one, or else the caller's own.
   *
   * @param named `null` means untagged, `undefined` means not specified.
   * @throws Forbidden when it is not the caller's own and the API token does not have `admin`.
   */
  chooseEnvironment(named: EnvironmentTag | null | undefined): EnvironmentTag | null {
    if (named === undefined || named === this.environmentTag) return this.environmentTag;
    if (this.allEnvironments) return named;
    throw new Forbidden(
      'Specifying an environment other than that of the API token requires the scope admin. Omit environmentTag to use the ' +
        `environment of the API token (${this.environmentTag ?? 'untagged'}); null means untagged.`,
    );
  }

  /**
   * Whether this caller has access to the groups of every environment, which requires `admin`; others have access to their own.
   */
  get allEnvironments(): boolean {
    return this.has('admin');
  }

  /** Whether this caller has access to a group, or an API token, of this environment. */
  canAccess({ environmentTag }: { readonly environmentTag: EnvironmentTag | null }): boolean {
    return this.allEnvironments || environmentTag === this.environmentTag;
  }

  private has(scope: Scope): boolean {
    const { held } = this;
    if (this.trusted) return true;
    if (held === undefined) return false;
    return held.includes('admin') || (grantedBy.get(scope)?.some((granting) => held.includes(granting)) ?? false);
  }
}

/** Who makes a change, and by which request. */
export interface Author {
  readonly kind: ActorKind;
  /** The name of the API token, or of the operating system's user: 1 to 255 characters. */
  readonly name: string;
  /** The API token that the change is made with; none for a command and the gateway itself. */
  readonly apiTokenId: number | null;
  /** The id of the request: at most 128 characters. */
  readonly requestId: string | null;
}

/** The gateway itself, for what it does without a request or a command. */
export const systemAuthor: Author = { kind: 'SYSTEM', name: 'user-group-gateway', apiTokenId: null, requestId: null };

/** A command. @param user the name of the operating system's user who runs it; what exceeds 255 characters is cut off. */
export function commandAuthor(user: string): Author {
  const name = [...user].slice(0, 255).join('').replaceAll('\0', '') || 'unknown';
  return { kind: 'CLI', name, apiTokenId: null, requestId: null };
}

/**
 * The part `actor` of a `with` clause, which tells the triggers who makes the change. PostgreSQL executes it only if the
 * statement refers to it: `from actor`. The parameter is an {@link Author} as JSON.
 */
export const actor = (parameter: number): string =>
  `actor as materialized (select set_config('gateway.actor', $${parameter}, true))`;

/** The part `silent` of a `with` clause: the triggers ignore a statement that refers to it. */
export const silent = `silent as materialized (select set_config('gateway.silent', 'on', true))`;

/** Records an event of the whole gateway that is no change of a row. */
export async function recordEvent(
  sql: Sql,
  author: Author,
  type: Extract<EventType, 'user_group.imported' | 'encryption_key.rotated'>,
  changes: Prisma.InputJsonObject,
): Promise<void> {
  const { kind, name, apiTokenId, requestId } = author;
  await sql('record-event', insertEvent, [type, JSON.stringify(changes), kind, name, apiTokenId, requestId]);
}

const insertEvent = `
  insert into event (type, environment, changes, actor_kind, actor_name, actor_api_token_id, request_id)
  values ($1, 'None', $2::json, $3::actor_kind, $4, $5::int, $6)`;
