import type { Connections } from './connections.ts';
import type { Reply, RequestOptions } from './request.ts';

/** What a row attacks, and the means for it. */
export interface Target {
  readonly port: number;
  /** The caller's API tokens, by what they may do. */
  readonly tokens: {
    /** Every scope. */
    readonly admin: string;
    /** `groups:read` and `groups:write` in the Testing environment. */
    readonly groups: string;
    /** `config:validate` alone. */
    readonly validate: string;
  };
  readonly data: SeededData;
  /** Sends one request over a connection of its own. Never rejects. */
  send(options: RequestOptions): Promise<Reply>;
  /** Sends a GraphQL request as JSON; anonymous without a token. Never rejects. */
  graphql(params: object, token?: string): Promise<Reply>;
  /** Connections for what no HTTP client sends. */
  readonly connections: Connections;
  /** Resolves after some time, or as soon as the row is over. */
  pause(milliseconds: number): Promise<void>;
}

/** What is stored before the first row. */
export interface SeededData {
  /** A group with 64 KiB of properties. */
  readonly large: { readonly id: string; readonly teamId: number; readonly token: string; readonly providedId: string };
}

/**
 * How a caller may be answered. `4xx` is a status with a code and a text; `errors` is 200 whose `errors` all have a code;
 * `closed` is a connection that the gateway ends without a response; `held` is a connection that the row itself ends, unanswered.
 */
export type Outcome = '2xx' | '4xx' | '503' | 'errors' | 'closed' | 'held';

/** One hostile request, or many that belong together. */
export interface Row {
  /** In kebab case; `--only` takes it, or the beginning of it. */
  readonly name: string;
  /** Each reply must be one of these; `4xx` alone unless given. */
  readonly expects?: readonly Outcome[];
  /** At least one reply must be one of these; so that a row that was mostly refused elsewhere does not pass. */
  readonly someExpect?: readonly Outcome[];
  /** How long the row may take before the drill ends its connections, in milliseconds; 40,000 unless given. */
  readonly timeoutMs?: number;
  /** Limits of its own, for a crowd of clients at once whose connections alone take longer; with the reason in a comment. */
  readonly maxLivezMs?: number;
  readonly maxPeakMiB?: number;
  send(target: Target): Promise<readonly Reply[]>;
}
