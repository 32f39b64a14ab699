import { useEffect, useState } from 'react';
import { storedApiToken } from '../../tab-storage.ts';
import { Failure, toFailure } from '../graphql/failure.ts';
import { LoadingRows } from '../ui/states.tsx';
import { SessionProvider, type SignedIn } from './session.tsx';
import { Shell } from './shell.tsx';
import { identify, SignIn } from './sign-in.tsx';

type State =
  | { readonly is: 'checking'; readonly apiToken: string }
  | { readonly is: 'signed-in'; readonly apiToken: string; readonly caller: SignedIn }
  | { readonly is: 'signed-out'; readonly reason?: Failure | string | undefined };

/** The console: the sign-in, or the pages. */
export function App() {
  const [state, setState] = useState<State>(() => {
    const apiToken = storedApiToken.read();
    return apiToken === undefined ? { is: 'signed-out' } : { is: 'checking', apiToken };
  });
  const checked = state.is === 'checking' ? state.apiToken : undefined;
  useEffect(() => {
    if (checked === undefined) return;
    identify(checked).then(
      (caller) => setState({ is: 'signed-in', apiToken: checked, caller }),
      (error) => {
        const failure = toFailure(error);
        // Kept when only the gateway cannot be reached: after a reload it works again.
        if (failure.code === 'UNAUTHENTICATED') storedApiToken.remove();
        setState({ is: 'signed-out', reason: failure });
      },
    );
  }, [checked]);

  if (state.is === 'checking') return <LoadingRows />;
  if (state.is === 'signed-out') {
    const signIn = (apiToken: string, caller: SignedIn) => {
      storedApiToken.write(apiToken);
      setState({ is: 'signed-in', apiToken, caller });
    };
    return <SignIn reason={state.reason} onSignedIn={signIn} />;
  }
  const signOut = (reason?: string) => {
    storedApiToken.remove();
    setState({ is: 'signed-out', reason: reason === undefined ? 'You are signed out.' : new Failure('UNAUTHENTICATED', reason) });
  };
  return (
    <SessionProvider key={state.apiToken} apiToken={state.apiToken} caller={state.caller} onSignOut={signOut}>
      <Shell />
    </SessionProvider>
  );
}
