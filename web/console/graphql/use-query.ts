import { useCallback, useEffect, useRef, useState } from 'react';
import { useSession } from '../app/session.tsx';
import type { TypedDocument } from './document.ts';
import { type Failure, toFailure } from './failure.ts';
import { sendPage } from './send-page.ts';

/** What a component shows of a query. */
export interface QueryState<Result> {
  /** The latest data, also while newer data is loaded. */
  readonly data: Result | undefined;
  /** Why the latest request failed. */
  readonly failure: Failure | undefined;
  /** Whether the data is not that of the latest variables yet. */
  readonly isLoading: boolean;
  /** Sends the query again. */
  reload(): void;
  /** Replaces the data, by what a mutation returned. */
  setData(data: Result): void;
}

interface Loaded<Result> {
  readonly key: string | undefined;
  readonly data?: Result | undefined;
  readonly failure?: Failure | undefined;
}

/**
 * Sends a query whenever its variables change. At most one request is in flight: variables that change in the meantime wait, the
 * latest replace those before them, and the data of replaced variables is not shown.
 *
 * @param variables undefined: nothing is sent.
 * @param version what stands for the variables when they are compared; by default their JSON.
 */
export function useQuery<Result, Variables>(
  document: TypedDocument<Result, Variables>,
  variables: Variables | undefined,
  version?: string,
): QueryState<Result> {
  const { client } = useSession();
  const [loaded, setLoaded] = useState<Loaded<Result>>({ key: undefined });
  const [generation, setGeneration] = useState(0);
  const key = variables === undefined ? undefined : `${generation} ${version ?? JSON.stringify(variables)}`;
  const wanted = useRef<{ key: string | undefined; variables: Variables | undefined }>({ key: undefined, variables: undefined });
  const isSending = useRef(false);

  // biome-ignore lint/correctness/useExhaustiveDependencies: the key stands for the variables, a new object each time
  useEffect(() => {
    wanted.current = { key, variables };
    void sendLatest();

    async function sendLatest() {
      if (isSending.current) return;
      isSending.current = true;
      let sent: string | undefined;
      while (wanted.current.key !== undefined && wanted.current.key !== sent) {
        const { key, variables } = wanted.current;
        sent = key;
        const result = await sendPage(client, document, variables as Variables).then(
          ({ response }) => ({ data: response.data }),
          (error) => ({ failure: toFailure(error) }),
        );
        if (wanted.current.key === key) setLoaded((previous) => ({ data: previous.data, ...result, key }));
      }
      isSending.current = false;
    }
  }, [key, client, document]);
  // A component that is gone wants nothing: what is in flight is the last request.
  useEffect(
    () => () => {
      wanted.current = { key: undefined, variables: undefined };
    },
    [],
  );

  const setData = useCallback((data: Result) => setLoaded((previous) => ({ key: previous.key, data })), []);
  const reload = useCallback(() => setGeneration((count) => count + 1), []);
  return {
    data: loaded.data,
    failure: loaded.key === key ? loaded.failure : undefined,
    isLoading: key !== undefined && loaded.key !== key,
    reload,
    setData,
  };
}
