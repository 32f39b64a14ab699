import type { ApiToken, EnvironmentTag } from '../generated/prisma/client.ts';
import { Forbidden, Unauthenticated } from './errors.ts';

/** What a caller reads who sent no credential where one is needed. */
export const credentialRequired = 'This needs an API token: send the header "Authorization: Token <API_TOKEN>".';

/** What a scope allows. */
interface ScopeDefinition {
  /** One sentence without its period, for the command's help and the schema. */
  readonly description: string;
  /** The other scopes that it includes. `admin` includes all without listing them. */
  readonly includes: readonly string[];
}

/** The scopes of API tokens. The texts that list them are made from this. */
export const scopes = {
  'groups:read': { description: 'find and read user groups', includes: ['groups:resolve'] },
  'groups:write': {
    description: 'get or create, update and rotate user groups, which includes reading the group that a call names',
    includes: [],
  },
  'groups:resolve': {
    description: 'only find the user group that a user group token identifies, without its current token; for embed backends',
    includes: [],
  },
  'config:validate': { description: 'validate configuration files of documentation sites', includes: [] },
  admin: { description: 'everything, in every environment', includes: [] },
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

/** What is known of an accepted API token: not its secret's hash, and it is not revoked. */
export type Credential = Omit<ApiToken, 'secretHash' | 'revokedAt'>;

/** Who asks: the holder of an API token, or nobody. */
export class Caller {
  /** The API token in use; none means that nobody authenticated. */
  readonly apiToken: Credential | undefined;

  constructor(apiToken: Credential | undefined) {
    this.apiToken = apiToken;
  }

  /** Nobody: every `require` fails. */
  static readonly anonymous = new Caller(undefined);

  /** Whose share of the queue for the database this caller's look-ups and writes count to. */
  get share(): number | undefined {
    return this.apiToken?.id;
  }

  /** The environment that groups of this caller's making carry; `null` means untagged. */
  get environmentTag(): EnvironmentTag | null {
    return this.apiToken?.environmentTag ?? null;
  }

  /**
   * Insists on one of these scopes. Synchronous, so that a check cannot be forgotten for want of an `await`.
   *
   * @throws Unauthenticated when nobody asks. @throws Forbidden when the API token has none of them, none that includes one,
   * and not `admin`.
   */
  require(...anyOf: readonly [Scope, ...Scope[]]): void {
    this.requireCredential();
    if (anyOf.some((scope) => this.has(scope))) return;
    const sufficient = [...new Set(anyOf.flatMap((scope) => grantedBy.get(scope) ?? []))].join(' or ');
    throw new Forbidden(`This needs the scope ${sufficient}, which the API token in use does not have.`);
  }

  /** Insists that somebody asks. @throws Unauthenticated when nobody does. */
  requireCredential(): void {
    if (!this.apiToken) throw new Unauthenticated(credentialRequired);
  }

  /**
   * The environment to work in when a call may name one: the named one, or the caller's own when none is.
   *
   * @param named `null` means untagged, `undefined` that none is named.
   * @throws Forbidden when it is not the caller's own and the API token does not have `admin`.
   */
  chooseEnvironment(named: EnvironmentTag | null | undefined): EnvironmentTag | null {
    if (named === undefined || named === this.environmentTag) return this.environmentTag;
    if (this.allEnvironments) return named;
    throw new Forbidden(
      'Naming an environment other than that of the API token needs the scope admin. Leave environmentTag out to use the ' +
        `environment of the API token (${this.environmentTag ?? 'untagged'}); null names the untagged groups.`,
    );
  }

  /** Whether this caller sees the groups of every environment, which takes `admin`; others see those of their own. */
  get allEnvironments(): boolean {
    return this.has('admin');
  }

  /** Which groups this caller sees, as a condition. {@link canAccess} is the same. */
  get accessFilter(): { environmentTag?: EnvironmentTag | null } {
    return this.allEnvironments ? {} : { environmentTag: this.environmentTag };
  }

  /** Whether this caller sees a group: the rule of {@link accessFilter}, for a row that is there already. */
  canAccess(group: { readonly environmentTag: EnvironmentTag | null }): boolean {
    return this.allEnvironments || group.environmentTag === this.environmentTag;
  }

  private has(scope: Scope): boolean {
    const held = this.apiToken?.scopes;
    if (held === undefined) return false;
    return held.includes('admin') || (grantedBy.get(scope)?.some((granting) => held.includes(granting)) ?? false);
  }
}
