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
  'embed:sign': { description: 'create and revoke embed tokens of user groups; includes finding the group', includes: [] },
  'metrics:read': { description: 'read the metrics of the gateway', includes: [] },
  admin: { description: 'full access to every environment, and the management of API tokens and webhooks', includes: [] },
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
export const grantedBy: ReadonlyMap<Scope, readonly Scope[]> = new Map(
  scopeNames.map((scope) => [scope, [scope, ...scopeNames.filter((other) => includedIn(other).includes(scope))]]),
);

function includedIn(scope: Scope): readonly string[] {
  return scopes[scope].includes;
}
