import { storageKeyOf } from './tab-storage.ts';

/**
 * What the open tabs of one browser tell each other of the session in the console; nothing of it is stored. Every script of the
 * origin could read it: those of the gateway are the console and the playground, which only listens for the end.
 */
export type SessionMessage =
  /** A tab that has no API token, and gives itself a number, asks for one. */
  | { readonly is: 'question'; readonly tab: number }
  /** A tab that is signed in has one. */
  | { readonly is: 'answer'; readonly tab: number; readonly apiToken: string }
  /** A person has signed out; with an API token, that one is no longer valid. */
  | { readonly is: 'end'; readonly apiToken?: string; readonly reason?: string };

const channel = openChannel();

/** Nothing in a browser that blocks storage: it blocks this as well. */
function openChannel(): BroadcastChannel | undefined {
  try {
    return new BroadcastChannel(storageKeyOf('session'));
  } catch {
    return undefined;
  }
}

/** Tells the other tabs. */
export function tellTabs(message: SessionMessage): void {
  channel?.postMessage(message);
}

/** Calls the listener with what other tabs tell. @returns ends it. */
export function listenToTabs(listener: (message: SessionMessage) => void): () => void {
  const receive = ({ data }: MessageEvent<SessionMessage>) => listener(data);
  channel?.addEventListener('message', receive);
  return () => channel?.removeEventListener('message', receive);
}

/** Whether a session with this API token ends with the message. */
export function endsSession(message: SessionMessage, apiToken: string): boolean {
  return message.is === 'end' && (message.apiToken ?? apiToken) === apiToken;
}
