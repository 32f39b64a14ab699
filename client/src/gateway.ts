import type { TypedDocument } from './document.ts';
import { createError, GatewayError, type Issue } from './errors.ts';
import { Events } from './events.ts';
import * as operations from './generated.ts';
import { type CallOptions, createSend, type GatewayOptions, type Send } from './send.ts';

/** The variables of an operation: may be left out if it has none. */
type Arguments<Variables> =
  Record<string, never> extends Variables
    ? [variables?: Variables, options?: CallOptions]
    : [variables: Variables, options?: CallOptions];

/** The result of a mutation without the errors, which are thrown. */
type PayloadOf<Result> = Exclude<NonNullable<Result>, { readonly code: operations.ErrorCode }>;

/** Which groups to list. */
export interface ListOptions {
  /** Which groups; all by default. Every given condition must hold. */
  readonly filter?: operations.UserGroupFilter;
  /** In which order; the newest first by default. Groups that change while you read are missed by `UPDATED` and `NAME`. */
  readonly orderBy?: operations.UserGroupOrder;
  /** How many groups a request fetches: 1 to 100, by default 100. */
  readonly pageSize?: number;
}

/**
 * A gateway, as your backend calls it. Every method rejects with a {@link GatewayError} when it fails, or with the reason of your
 * signal. Reads and changes are sent again while the gateway is unavailable or unreachable; each change has an Idempotency-Key,
 * by which it is made once.
 *
 * @example
 * const gateway = new UserGroupGateway({ url: 'https://example.com/groups', apiToken: process.env.API_TOKEN });
 */
export class UserGroupGateway {
  readonly #send: Send;
  /** Reads and changes user groups. */
  readonly userGroups: UserGroups;
  /** Creates and revokes embed tokens. */
  readonly embedTokens: EmbedTokens;
  /** Follows every change. */
  readonly events: Events;

  /** @throws TypeError when `url` is no URL or has credentials, or `apiToken` is empty or has spaces or line breaks. */
  constructor(options: GatewayOptions) {
    this.#send = createSend(options);
    this.userGroups = new UserGroups(this.#send);
    this.embedTokens = new EmbedTokens(this.#send);
    this.events = new Events(this.#send, options);
  }

  /**
   * The user group that views with a user group token; null if the token identifies none, whatever a browser sent instead of one.
   * Rejects if it is not known who is viewing: then render nothing. Needs the scope `groups:resolve`.
   *
   * @example
   * const viewer = await gateway.resolveViewer(token);
   * if (!viewer) return new Response('Unknown token', { status: 401 });
   */
  async resolveViewer(token: unknown, options?: CallOptions): Promise<operations.Viewer | null> {
    if (typeof token !== 'string' || token.length > 1_000) return null; // no token is that long
    try {
      return (await this.#send(operations.ResolveViewer, { token }, options)).result;
    } catch (error) {
      const isNoToken = ({ path }: Issue) => path.join('.') === 'by.token';
      if (error instanceof GatewayError && error.issues.some(isNoToken)) return null;
      throw error;
    }
  }

  /**
   * Executes a GraphQL operation of your own, with at most one mutation. Errors in the result of a mutation are data: they are
   * returned.
   *
   * @param document a text, a `TypedDocumentNode`, or what GraphQL Code Generator makes of an operation.
   * @example
   * const { caller } = await gateway.query<{ caller: { name: string } | null }>('{ caller { name } }');
   */
  async query<Result = unknown, Variables = Readonly<Record<string, unknown>>>(
    document: TypedDocument<Result, Variables> | string,
    ...[variables, options]: Arguments<Variables>
  ): Promise<Result> {
    return this.#send<Result, Variables>(document, variables, options);
  }
}

/** Reads and changes user groups. */
export class UserGroups {
  readonly #send: Send;

  /** @param send sends the operations. */
  constructor(send: Send) {
    this.#send = send;
  }

  /**
   * Returns the group with this id, or creates it. Never changes an existing group. Needs the scope `groups:write`.
   *
   * @example
   * const { userGroup, created } = await gateway.userGroups.getOrCreate({ providedId: 'acme', name: 'ACME' });
   */
  getOrCreate(input: operations.GetOrCreateUserGroupInput, options?: CallOptions) {
    return mutate(this.#send, operations.GetOrCreateUserGroup, input, options);
  }

  /**
   * One group; null if it does not exist or the API token has no access to it. Needs the scope `groups:read`.
   *
   * @example
   * const userGroup = await gateway.userGroups.get({ providedId: 'acme' });
   */
  async get(by: operations.UserGroupBy, options?: CallOptions): Promise<operations.UserGroup | null> {
    return (await this.#send(operations.GetUserGroup, { by }, options)).result;
  }

  /**
   * Every group that the filter matches, fetched page by page while you read. In the order of `UPDATED` or `NAME`, a group that
   * changes meanwhile may be missed or come twice; in the others, it comes once. Needs the scope `groups:read`.
   *
   * @example
   * for await (const { name } of gateway.userGroups.list({ filter: { search: 'ac' } })) console.log(name);
   */
  async *list(
    { filter, orderBy, pageSize = 100 }: ListOptions = {},
    options?: CallOptions,
  ): AsyncGenerator<operations.UserGroup, void> {
    const variables = { first: pageSize, after: undefined as string | null | undefined, filter, orderBy };
    for (;;) {
      let page: operations.ListUserGroups['result'];
      try {
        page = (await this.#send(operations.ListUserGroups, variables, options)).result;
      } catch (error) {
        // Large groups do not all fit into one response.
        if (!(error instanceof GatewayError) || error.code !== 'QUERY_TOO_COSTLY' || variables.first <= 1) throw error;
        variables.first = Math.floor(variables.first / 2);
        continue;
      }
      const { hasNextPage, endCursor } = page?.pageInfo ?? {};
      if (!page?.nodes || hasNextPage === undefined || (hasNextPage && !endCursor))
        throw createError('INVALID_RESPONSE', 'The response has no page of user groups.');
      yield* page.nodes;
      if (!hasNextPage) return;
      variables.after = endCursor;
    }
  }

  /**
   * Changes the given fields of a group. Needs the scope `groups:write`.
   *
   * @example
   * await gateway.userGroups.update({ by: { providedId: 'acme' }, mergeProperties: { plan: 'gold' } });
   */
  update(input: operations.UpdateUserGroupInput, options?: CallOptions) {
    return mutate(this.#send, operations.UpdateUserGroup, input, options);
  }

  /**
   * Replaces the current token of a group; the replaced one works for another `graceSeconds`. Needs the scope `groups:write`.
   *
   * @example
   * const { userGroup } = await gateway.userGroups.rotateToken({ currentToken, graceSeconds: 3600 });
   */
  rotateToken(input: operations.RotateUserGroupTokenInput, options?: CallOptions) {
    return mutate(this.#send, operations.RotateUserGroupToken, input, options);
  }

  /**
   * Deletes a group permanently; its tokens stop working at once. Needs the scope `groups:write`.
   *
   * @example
   * await gateway.userGroups.delete({ by: { providedId: 'acme' } });
   */
  delete(input: operations.DeleteUserGroupInput, options?: CallOptions) {
    return mutate(this.#send, operations.DeleteUserGroup, input, options);
  }

  /**
   * Suspends a group: its tokens and embed tokens identify nothing until it is resumed. Needs the scope `groups:write`.
   *
   * @example
   * await gateway.userGroups.suspend({ by: { providedId: 'acme' }, reason: 'unpaid since May' });
   */
  suspend(input: operations.SuspendUserGroupInput, options?: CallOptions) {
    return mutate(this.#send, operations.SuspendUserGroup, input, options);
  }

  /**
   * Resumes a group that is suspended. Needs the scope `groups:write`.
   *
   * @example
   * await gateway.userGroups.resume({ by: { providedId: 'acme' } });
   */
  resume(input: operations.ResumeUserGroupInput, options?: CallOptions) {
    return mutate(this.#send, operations.ResumeUserGroup, input, options);
  }

  /**
   * Moves a group to another environment; null means untagged. Needs the scope `admin`.
   *
   * @example
   * await gateway.userGroups.setEnvironment({ by: { teamId: 7 }, environmentTag: 'CUSTOMER' });
   */
  setEnvironment(input: operations.SetUserGroupEnvironmentInput, options?: CallOptions) {
    return mutate(this.#send, operations.SetUserGroupEnvironment, input, options);
  }
}

/** Creates and revokes embed tokens. */
export class EmbedTokens {
  readonly #send: Send;

  /** @param send sends the operations. */
  constructor(send: Send) {
    this.#send = send;
  }

  /**
   * Creates a signed token that identifies a group until it expires, to whoever verifies it. Needs the scope `embed:sign`.
   *
   * @example
   * const { token, expiresAt } = await gateway.embedTokens.create({ by: { providedId: 'acme' }, audience: 'dashboards' });
   */
  create(input: operations.CreateEmbedTokenInput, options?: CallOptions) {
    return mutate(this.#send, operations.CreateEmbedToken, input, options);
  }

  /**
   * Revokes every embed token that a group, or one of its viewers, has now: introspection finds them inactive from the next
   * request on; a verifier accepts them until they expire. Needs the scope `embed:sign`.
   *
   * @example
   * await gateway.embedTokens.revoke({ by: { providedId: 'acme' }, viewerId: 'ann' });
   */
  revoke(input: operations.RevokeEmbedTokensInput, options?: CallOptions) {
    return mutate(this.#send, operations.RevokeEmbedTokens, input, options);
  }
}

/** Sends a mutation. @returns its payload. @throws GatewayError also when its result is an error. */
async function mutate<Result extends object | null, Input>(
  send: Send,
  document: TypedDocument<{ readonly result: Result }, { input: Input }>,
  input: Input,
  options: CallOptions | undefined,
): Promise<PayloadOf<Result>> {
  return (await send(document, { input }, options)).result as PayloadOf<Result>;
}
