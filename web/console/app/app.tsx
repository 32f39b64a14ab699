import { useEffect, useState } from 'react';
import { endsSession, listenToTabs, tellTabs } from '../../shared-session.ts';
import { storedApiToken } from '../../tab-storage.ts';
import { Failure, toFailure } from '../graphql/failure.ts';
import { LoadingRows } from '../ui/states.tsx';
import { SessionProvider, type SignedIn } from './session.tsx';
import { Shell } from './shell.tsx';
import { identify, SignIn } from './sign-in.tsx';

/** How long the sign-in waits for another tab, so that it is not shown for a moment to a person who need not sign in. */
const answerMs = 100;

type State =
  | { readonly is: 'asking' }
  | { readonly is: 'checking'; readonly apiToken: string }
  | { readonly is: 'signed-in'; readonly apiToken: string; readonly caller: SignedIn }
  | { readonly is: 'signed-out'; readonly reason?: Failure | string | undefined };

/** The console: the sign-in, or the pages. */
export function App() {
  const [state, setState] = useState<State>(() => {
    const apiToken = storedApiToken.read();
    return apiToken === undefined ? { is: 'asking' } : { is: 'checking', apiToken };
  });
  const checked = state.is === 'checking' ? state.apiToken : undefined;
  useEffect(() => {
    if (checked === undefined) return;
    // Another tab may end the session meanwhile.
    let isOver = false;
    identify(checked).then(
      (caller) => {
        if (!isOver) setState({ is: 'signed-in', apiToken: checked, caller });
      },
      (error) => {
        if (isOver) return;
        const failure = toFailure(error);
        // Kept when only the gateway cannot be reached: after a reload it works again.
        if (failure.code === 'UNAUTHENTICATED') storedApiToken.remove();
        setState({ is: 'signed-out', reason: failure });
      },
    );
    return () => {
      isOver = true;
    };
  }, [checked]);

  useEffect(
    () =>
      listenToTabs((message) => {
        // A tab where a person has signed out stays so, even if an answer comes late.
        const isNew = state.is === 'asking' || (state.is === 'signed-out' && state.reason === undefined);
        if (message.is === 'question' && state.is === 'signed-in') tellTabs({ is: 'answer', apiToken: state.apiToken });
        if (message.is === 'answer' && isNew) {
          storedApiToken.write(message.apiToken);
          setState({ is: 'checking', apiToken: message.apiToken });
        }
        if (message.is === 'end' && 'apiToken' in state && endsSession(message, state.apiToken)) {
          setState(forgetApiToken(message.reason));
        }
      }),
    [state],
  );
  const isAsking = state.is === 'asking';
  useEffect(() => {
    if (!isAsking) return;
    tellTabs({ is: 'question' });
    const timer = setTimeout(setState, answerMs, { is: 'signed-out' });
    return () => clearTimeout(timer);
  }, [isAsking]);

  if (state.is === 'asking' || state.is === 'checking') return <LoadingRows />;
  if (state.is === 'signed-out') {
    const signIn = (apiToken: string, caller: SignedIn) => {
      storedApiToken.write(apiToken);
      setState({ is: 'signed-in', apiToken, caller });
    };
    return <SignIn reason={state.reason} onSignedIn={signIn} />;
  }
  const { apiToken, caller } = state;
  const signOut = (reason?: string) => {
    tellTabs({ is: 'end', ...(reason !== undefined && { apiToken, reason }) });
    setState(forgetApiToken(reason));
  };
  return (
    <SessionProvider key={apiToken} apiToken={apiToken} caller={caller} onSignOut={signOut}>
      <Shell />
    </SessionProvider>
  );
}

function forgetApiToken(reason: string | undefined): State {
  storedApiToken.remove();
  return { is: 'signed-out', reason: reason === undefined ? 'You are signed out.' : new Failure('UNAUTHENTICATED', reason) };
}
