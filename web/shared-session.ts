import { storageKeyOf, storedApiToken } from './tab-storage.ts';

/**
 * What the open tabs of one browser tell each other of the session in the console; nothing of it is stored. Every script of the
 * origin could read it: those of the gateway are the console and the playground, which asks for and passes on only the end. Times
 * are in milliseconds since 1970.
 */
export type SessionMessage =
  /** A tab that has no API token, and gives itself a number, asks for one. */
  | { readonly is: 'question'; readonly tab: number }
  /** A tab that is signed in has one. */
  | { readonly is: 'answer'; readonly tab: number; readonly apiToken: string }
  /** A tab could not be told what happened since a time: while its page was loading, or the browser had discarded it. */
  | { readonly is: 'loaded'; readonly tab: number; readonly sinceMs: number }
  /** A person has signed out; with an API token, that one is no longer valid. To one tab, it is the answer to its `loaded`. */
  | { readonly is: 'end'; readonly tab?: number; readonly apiToken?: string; readonly reason?: string; readonly atMs: number };

/** What the answers to this tab have: one that another tab asked for must not end what a person does here. */
export const thisTab = Math.random();

const channel = openChannel();

/** Nothing in a browser that blocks storage: it blocks this as well. */
function openChannel(): BroadcastChannel | undefined {
  try {
    return new BroadcastChannel(storageKeyOf('session'));
  } catch {
    return undefined;
  }
}

/** When a person has last signed out, as far as this tab knows. */
let signedOutAtMs = Number.NEGATIVE_INFINITY;

function remember(message: SessionMessage): void {
  if (message.is === 'end' && message.apiToken === undefined && message.atMs > signedOutAtMs) signedOutAtMs = message.atMs;
}

channel?.addEventListener('message', ({ data }: MessageEvent<SessionMessage>) => {
  remember(data);
  // Unless the clock was set back since.
  const isKnown = signedOutAtMs <= Date.now();
  if (data.is === 'loaded' && isKnown && signedOutAtMs >= data.sinceMs)
    tellTabs({ is: 'end', tab: data.tab, atMs: signedOutAtMs });
});

/** Tells the other tabs. */
export function tellTabs(message: SessionMessage): void {
  remember(message);
  channel?.postMessage(message);
}

let isLoaded = false;

/**
 * Calls the listener with what other tabs tell all tabs or this one, also of what happened before this page could listen.
 *
 * @returns ends it.
 */
export function listenToTabs(listener: (message: SessionMessage) => void): () => void {
  const receive = ({ data }: MessageEvent<SessionMessage>) => {
    const isOfAnother = (data.is === 'answer' || data.is === 'end') && data.tab !== undefined && data.tab !== thisTab;
    if (!isOfAnother) listener(data);
  };
  channel?.addEventListener('message', receive);
  if (!isLoaded) tellTabs({ is: 'loaded', tab: thisTab, sinceMs: storedApiToken.beganAtMs() ?? Date.now() - performance.now() });
  isLoaded = true;
  return () => channel?.removeEventListener('message', receive);
}

/** Whether the session of this tab, with this API token, ends with the message. An answer may be older than the session. */
export function endsSession(message: SessionMessage, apiToken: string): boolean {
  if (message.is !== 'end' || (message.apiToken ?? apiToken) !== apiToken) return false;
  return message.tab === undefined || message.atMs >= (storedApiToken.beganAtMs() ?? 0);
}
