import { createContext, type ReactNode, useContext, useEffect, useMemo, useRef, useState } from 'react';
import { type Client, createClient } from '../graphql/client.ts';
import type { ApiTokenFieldsFragment, Scope } from '../graphql/generated.ts';

/** The API token that the console uses, without its secret. */
export type SignedIn = ApiTokenFieldsFragment;

/** What every page knows of the person who uses it. */
export interface Session {
  readonly client: Client;
  readonly caller: SignedIn;
  /** Whether the API token has a scope, by itself or by one that includes it. */
  can(scope: Scope): boolean;
  /** Forgets the API token. */
  signOut(): void;
}

const SessionContext = createContext<Session | undefined>(undefined);

/** The session of a signed-in person. @throws Error outside of a {@link SessionProvider}. */
export function useSession(): Session {
  const session = useContext(SessionContext);
  if (!session) throw new Error('There is no session.');
  return session;
}

interface SessionProviderProps {
  readonly apiToken: string;
  readonly caller: SignedIn;
  /** @param reason why, if the gateway rejected the API token. */
  readonly onSignOut: (reason?: string) => void;
  readonly children: ReactNode;
}

/** Gives the pages below it a session. */
export function SessionProvider({ apiToken, caller, onSignOut, children }: SessionProviderProps) {
  const [signOut] = useState(() => onSignOut);
  const isOver = useRef(false);
  useEffect(() => {
    isOver.current = false;
    return () => {
      isOver.current = true;
    };
  }, []);
  const session = useMemo<Session>(
    () => ({
      client: createClient(apiToken, ({ message }) => {
        // A response may come after the next session has begun.
        if (!isOver.current) signOut(message);
      }),
      caller,
      can: (scope) => caller.scopes.includes('ADMIN') || caller.scopes.includes(scope),
      signOut: () => signOut(),
    }),
    [apiToken, caller, signOut],
  );
  return <SessionContext value={session}>{children}</SessionContext>;
}
