import { createError } from './errors.ts';
import * as operations from './generated.ts';
import { type CallOptions, defaultTimeoutMs, type GatewayOptions, pause, type Send } from './send.ts';

/** Which events to follow. */
export interface FollowOptions {
  /** The cursor that you stored last, or `latest` for what happens from now on; by default the oldest event that is kept. */
  readonly after?: string | undefined;
  /** The types to choose from; all by default. */
  readonly types?: readonly operations.EventType[];
}

/** A page of the event feed. */
export interface EventPage {
  /** The oldest first; none if nothing happened for some seconds. */
  readonly events: readonly operations.Event[];
  /** Store it once the events are handled, to continue from there. */
  readonly cursor: string;
}

/** Follows every change. */
export class Events {
  readonly #send: Send;
  readonly #waitSeconds: number;

  /** @param send sends the operations. */
  constructor(send: Send, { timeoutMs = defaultTimeoutMs }: Pick<GatewayOptions, 'timeoutMs'> = {}) {
    this.#send = send;
    // At most what the gateway permits, and little enough for a request that is sent again: it has a quarter of the time.
    this.#waitSeconds = Math.min(Math.floor(timeoutMs / 5_000), 8);
  }

  /**
   * The event feed, page by page, until you stop: every change that the API token sees, in order, none is missed. A request
   * waits for an event for a fifth of `timeoutMs`, at most 8 seconds; the first one after `latest` does not. Rejects with the
   * code `CURSOR_EXPIRED` when events behind the cursor are gone. Any other error ends the loop too, once the retries are used
   * up, such as `UNAVAILABLE`: begin again with the cursor that you stored, after a pause. Needs the scope `audit:read`.
   *
   * @example
   * for await (const { events, cursor } of gateway.events.follow({ after: await readCursor() })) {
   *   for (const event of events) await handle(event);
   *   await storeCursor(cursor);
   * }
   */
  async *follow({ after, types }: FollowOptions = {}, options?: CallOptions): AsyncGenerator<EventPage, never> {
    // If the response of a request that waits from `latest` were lost, so would be what happened meanwhile.
    const variables = { after, types, first: 100, waitSeconds: after === 'latest' ? 0 : this.#waitSeconds };
    for (;;) {
      const page = (await this.#send(operations.ReadEventFeed, variables, options)).result;
      if (!page) throw createError('INVALID_RESPONSE', 'The response has no page of the event feed.', {});
      yield { events: page.nodes, cursor: page.cursor };
      Object.assign(variables, { after: page.cursor, waitSeconds: this.#waitSeconds });
      // The limit leaves no second to wait in: not one request after the other meanwhile.
      if (this.#waitSeconds === 0 && page.nodes.length === 0) await pause(1_000, options?.signal);
    }
  }
}
