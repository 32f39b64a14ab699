import { useCallback, useEffect, useRef, useState } from 'react';
import { endsSession, listenToTabs, tellTabs, thisTab } from '../../shared-session.ts';
import { storedApiToken } from '../../tab-storage.ts';
import { Failure, toFailure } from '../graphql/failure.ts';
import { LoadingRows } from '../ui/states.tsx';
import { isUnsaved } from './router.tsx';
import { SessionProvider, type SignedIn } from './session.tsx';
import { Shell } from './shell.tsx';
import { identify, SignIn } from './sign-in.tsx';

/** How long a tab without an API token waits for the answers of all others. */
const answerMs = 100;

/** Until when after the load of the page a busy tab may still deny the API token that another one has offered. */
const denialMs = 10_000;

/** A tab cannot know from which one it was opened. */
const differentTokens = 'The open tabs use different API tokens. Sign in with the one that this tab is to use.';

/** With what another tab has offered, if the session has its API token from there. */
type State = { readonly offered?: string | undefined } & (
  | { readonly is: 'asking' }
  | { readonly is: 'checking'; readonly apiToken: string }
  | { readonly is: 'signed-in'; readonly apiToken: string; readonly caller: SignedIn }
  | { readonly is: 'signed-out'; readonly reason?: Failure | string | undefined }
);

/** The console: the sign-in, or the pages. */
export function App() {
  const [state, setState] = useState<State>(() => {
    const apiToken = storedApiToken.read();
    return apiToken === undefined ? { is: 'asking' } : { is: 'checking', apiToken };
  });
  /** The state at once: a message, a response and a timer may come before the next rendering. */
  const latest = useRef(state);
  const change = useCallback((next: State) => {
    latest.current = next;
    setState(next);
  }, []);

  /** Whether a person enters an API token, which another tab's must not replace. */
  const isEntering = useRef(false);

  useEffect(() => {
    if (state.is !== 'checking') return;
    const { apiToken } = state;
    identify(apiToken).then(
      (caller) => {
        if (latest.current === state) change({ ...state, is: 'signed-in', caller });
      },
      (error) => {
        if (latest.current !== state) return;
        const failure = toFailure(error);
        // Kept when only the gateway cannot be reached: after a reload it works again.
        if (failure.code === 'UNAUTHENTICATED') storedApiToken.remove();
        change({ is: 'signed-out', reason: failure });
      },
    );
  }, [state, change]);

  useEffect(
    () =>
      listenToTabs((message) => {
        const now = latest.current;
        // A tab where a person has signed out stays so, even if an answer comes late.
        const isNew = now.is === 'asking' || (now.is === 'signed-out' && now.reason === undefined);
        if (message.is === 'question' && now.is === 'signed-in')
          tellTabs({ is: 'answer', tab: message.tab, apiToken: now.apiToken });
        if (message.is === 'answer') {
          if (now.offered !== undefined && now.offered !== message.apiToken) {
            if (now.is !== 'asking' && (isUnsaved() || performance.now() > denialMs)) return;
            storedApiToken.remove();
            change({ is: 'signed-out', reason: differentTokens });
          } else if (isNew && !isEntering.current) change({ is: 'asking', offered: message.apiToken });
        }
        if (message.is !== 'end') return;
        // Also one that is kept for a reload, while the gateway cannot be reached, and one that another tab has just offered.
        const held = now.is === 'signed-out' ? storedApiToken.read() : now.is === 'asking' ? now.offered : now.apiToken;
        // Without one, an answer that was sent before a person has signed out may come after it.
        const ends = held === undefined ? isNew && message.reason === undefined : endsSession(message, held);
        // A tab that has something to lose, such as the new secret of this API token, ends with its own next request.
        if (ends && (message.reason === undefined || !isUnsaved())) change(forgetApiToken(message.reason));
      }),
    [change],
  );
  useEffect(() => {
    if (state.is !== 'asking') return;
    tellTabs({ is: 'question', tab: thisTab });
    const timer = setTimeout(() => {
      const now = latest.current;
      if (now.is !== 'asking') return;
      if (now.offered === undefined) return change({ is: 'signed-out' });
      storedApiToken.write(now.offered);
      change({ ...now, is: 'checking', apiToken: now.offered });
    }, answerMs);
    return () => clearTimeout(timer);
  }, [state.is, change]);

  if (state.is === 'asking' || state.is === 'checking') return <LoadingRows />;
  if (state.is === 'signed-out') {
    const signIn = (apiToken: string, caller: SignedIn) => {
      isEntering.current = false;
      storedApiToken.write(apiToken);
      change({ is: 'signed-in', apiToken, caller });
    };
    const onEntered = (isEntered: boolean) => {
      isEntering.current = isEntered;
    };
    return <SignIn reason={state.reason} onEntered={onEntered} onSignedIn={signIn} />;
  }
  const { apiToken, caller } = state;
  const signOut = (reason?: string) => {
    tellTabs({ is: 'end', ...(reason !== undefined && { apiToken, reason }), atMs: Date.now() });
    change(forgetApiToken(reason));
  };
  return (
    <SessionProvider key={apiToken} apiToken={apiToken} caller={caller} onSignOut={signOut}>
      <Shell />
    </SessionProvider>
  );
}

function forgetApiToken(reason: string | undefined): State {
  storedApiToken.remove();
  const loss = isUnsaved() ? ' What was not saved is lost.' : '';
  if (reason === undefined) return { is: 'signed-out', reason: `You are signed out.${loss}` };
  return { is: 'signed-out', reason: new Failure('UNAUTHENTICATED', `${reason}${loss}`) };
}
