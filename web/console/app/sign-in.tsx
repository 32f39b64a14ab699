import { type FormEvent, useState } from 'react';
import { tokenPrefixes } from '../../../src/token-prefixes.ts';
import { storedApiToken } from '../../tab-storage.ts';
import { createClient } from '../graphql/client.ts';
import { Failure, toFailure } from '../graphql/failure.ts';
import { Caller } from '../graphql/generated.ts';
import { Button } from '../ui/button.tsx';
import { FailureNotice } from '../ui/failure-notice.tsx';
import { TextField } from '../ui/field.tsx';
import type { SignedIn } from './session.tsx';

/** Whose API token this is. @throws Failure when the gateway does not accept it. */
export async function identify(apiToken: string): Promise<SignedIn> {
  // A header cannot have anything else, and neither can an API token.
  if (!/^[\x21-\x7e]{1,255}$/.test(apiToken)) {
    throw new Failure(
      'UNAUTHENTICATED',
      'An API token has no spaces and no special characters. Paste it whole, without "Token".',
    );
  }
  const { data, requestId } = await createClient(apiToken).send(Caller, {});
  if (!data.caller) throw new Failure('UNAUTHENTICATED', 'This is not an API token of the gateway.', { requestId });
  return data.caller;
}

interface SignInProps {
  /** Why the person has to sign in again. */
  readonly reason: Failure | string | undefined;
  /** Called with whether something is entered. */
  readonly onEntered: (isEntered: boolean) => void;
  readonly onSignedIn: (apiToken: string, caller: SignedIn) => void;
}

/** Asks for an API token. */
export function SignIn({ reason, onEntered, onSignedIn }: SignInProps) {
  const [apiToken, setApiToken] = useState('');
  const [isBusy, setIsBusy] = useState(false);
  const [failure, setFailure] = useState<Failure>();

  /** Whether this tab keeps an API token that could not be checked. */
  const isKept = failure === undefined && storedApiToken.read() !== undefined;

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setIsBusy(true);
    setFailure(undefined);
    const given = apiToken.trim();
    try {
      onSignedIn(given, await identify(given));
    } catch (error) {
      setFailure(toFailure(error));
      setIsBusy(false);
    }
  };

  return (
    <main className="sign-in">
      <form className="panel" onSubmit={(event) => void submit(event)} onInput={() => setFailure(undefined)}>
        <h1>User group gateway</h1>
        <p>Sign in with an API token. What you see and may change depends on its environment and scopes.</p>
        {typeof reason === 'string' && !failure && <div className="notice">{reason}</div>}
        <FailureNotice
          title={isKept ? 'The API token of this tab could not be checked' : 'You are not signed in'}
          failure={failure ?? (typeof reason === 'object' ? reason : undefined)}
          {...(isKept && { onRetry: () => location.reload() })}
        />
        <TextField
          label="API token"
          type="password"
          name="api-token"
          placeholder={`${tokenPrefixes.apiToken}…`}
          hint="It stays in the console's open tabs of this browser, and is forgotten when you close them or sign out."
          required
          autoFocus
          value={apiToken}
          onChange={(text) => {
            setApiToken(text);
            onEntered(text !== '');
          }}
          readOnly={isBusy}
        />
        <Button type="submit" variant="primary" isBusy={isBusy}>
          Sign in
        </Button>
        <details>
          <summary>Where do I get an API token?</summary>
          <p>
            The gateway prints one when it starts for the first time. For another one, run this in the folder of the gateway, also
            while it is running:
          </p>
          <pre>
            <code>npm run -s gateway -- token create --name console --environment Testing</code>
          </pre>
          <p>
            Where it is installed as a package, begin with <code>npx user-group-gateway</code>.
          </p>
        </details>
      </form>
    </main>
  );
}
