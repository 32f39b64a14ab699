import type { Author } from './audit-log/statements/insert.ts';
import { Forbidden, Unauthenticated } from './errors.ts';
import type { ApiToken, EnvironmentTag } from './generated/prisma/client.ts';

/** The error message when no credential was sent and one is required. */
export const credentialRequired = 'No API token was sent. Send the header "Authorization: Token <API_TOKEN>".';

/** What a scope allows. */
interface ScopeDefinition {
  /** One sentence without its period, for the command-line help and the schema. */
  readonly description: string;
  /** The other scopes that it includes. `admin` includes all without listing them. */
  readonly includes: readonly string[];
}

/** The scopes of API tokens, the source of every text that lists them. */
export const scopes = {
  'groups:read': { description: 'find and read user groups', includes: ['groups:resolve'] },
  'groups:write': {
    description:
      'get or create, update, suspend and delete user groups and rotate their tokens; includes reading the group that a call names',
    includes: [],
  },
  'groups:resolve': {
    description:
      'only resolve a user group token or an embed token to its user group, without the current token; for embed backends',
    includes: [],
  },
  'audit:read': { description: 'read the audit log: which changes were made, when and by whom', includes: [] },
  'embed:sign': { description: 'create and revoke embed tokens of user groups', includes: [] },
  'config:validate': { description: 'validate configuration files of documentation sites', includes: [] },
  'metrics:read': { description: 'read the metrics of the gateway', includes: [] },
  admin: { description: 'full access to every environment, and the management of API tokens', includes: [] },
} as const satisfies Record<string, ScopeDefinition>;

/** A scope that an API token may have. */
export type Scope = keyof typeof scopes;

/** Every scope, in the order in which texts list them. */
export const scopeNames = Object.keys(scopes) as readonly Scope[];

/** Whether there is a scope with this name. */
export function isScope(name: string): name is Scope {
  return Object.hasOwn(scopes, name);
}

/** What a scope allows, in one sentence without its period, the scopes that it includes among it. */
export function describeScope(name: Scope): string {
  const included = includedIn(name);
  return included.length > 0 ? `${scopes[name].description}; includes ${included.join(', ')}` : scopes[name].description;
}

/** The scopes that grant each scope: itself and those that include it, `admin` aside. */
const grantedBy: ReadonlyMap<Scope, readonly Scope[]> = new Map(
  scopeNames.map((scope) => [scope, [scope, ...scopeNames.filter((other) => includedIn(other).includes(scope))]]),
);

function includedIn(scope: Scope): readonly string[] {
  return scopes[scope].includes;
}

/** An accepted API token, without the hash of its secret. */
export type Credential = Omit<ApiToken, 'secretHash' | 'revokedAt'>;

/** The caller of a request: the holder of an API token, or anonymous. */
export class Caller {
  /** The API token that the request is authenticated with; none means anonymous. */
  readonly apiToken: Credential | undefined;
  /** Kept, because a stored token decodes its scopes each time they are read. */
  private readonly held: readonly string[] | undefined;
  private readonly requestId: string | undefined;

  /** @param requestId the id of the request: at most 128 characters. */
  constructor(apiToken: Credential | undefined, requestId?: string) {
    this.apiToken = apiToken;
    this.requestId = requestId;
    this.held = apiToken?.scopes;
  }

  /** The caller without a credential: every `require` fails. */
  static readonly anonymous = new Caller(undefined);

  /** What queues are fair between: this caller's look-ups and writes count towards its limit there. */
  get queueKey(): number | undefined {
    return this.apiToken?.id;
  }

  /** Who the audit log names for the changes of this request. @throws Unauthenticated for an anonymous caller. */
  get author(): Author {
    this.requireCredential();
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
    if (!this.apiToken) throw new Unauthenticated(credentialRequired);
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
    if (held === undefined) return false;
    return held.includes('admin') || (grantedBy.get(scope)?.some((granting) => held.includes(granting)) ?? false);
  }
}
