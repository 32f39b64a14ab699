import type { ApiToken, EnvironmentTag } from '../generated/prisma/client.ts';
import { Forbidden, Unauthenticated } from './errors.ts';

/** What an API token may allow. `admin` includes every other. */
export const scopes = ['groups:read', 'groups:write', 'config:validate', 'admin'] as const;

/** A scope that an API token may have. */
export type Scope = (typeof scopes)[number];

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
   * Insists on a scope. Synchronous, so that a check cannot be forgotten for want of an `await`.
   *
   * @throws Unauthenticated when nobody asks. @throws Forbidden when the API token has neither the scope nor `admin`.
   */
  require(scope: Scope): void {
    this.requireCredential();
    if (!this.has(scope)) throw new Forbidden(`This needs the scope ${scope}, which the API token in use does not have.`);
  }

  /** Insists that somebody asks. @throws Unauthenticated when nobody does. */
  requireCredential(): void {
    if (!this.apiToken) throw new Unauthenticated('This needs an API token: send the header "Authorization: Token <API_TOKEN>".');
  }

  /** Whether this caller sees the groups of every environment, which takes `admin`; others see those of their own. */
  get everyEnvironment(): boolean {
    return this.has('admin');
  }

  /** Which groups this caller sees, as a condition. {@link sees} is the same. */
  get visible(): { environmentTag?: EnvironmentTag | null } {
    return this.everyEnvironment ? {} : { environmentTag: this.environmentTag };
  }

  /** Whether this caller sees a group: the rule of {@link visible}, for a row that is there already. */
  sees(group: { readonly environmentTag: EnvironmentTag | null }): boolean {
    return this.everyEnvironment || group.environmentTag === this.environmentTag;
  }

  private has(scope: Scope): boolean {
    const held = this.apiToken?.scopes;
    return held !== undefined && (held.includes(scope) || held.includes('admin'));
  }
}
