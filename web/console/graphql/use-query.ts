import { useCallback, useEffect, useRef, useState } from 'react';
import { useSession } from '../app/session.tsx';
import type { TypedDocument } from './document.ts';
import { type Failure, toFailure } from './failure.ts';
import { sendPage } from './send-page.ts';

/** What a component shows of a query. */
export interface QueryState<Result> {
  /** The latest data, also while newer data is loaded; none after a failure, unless it is of the same variables. */
  readonly data: Result | undefined;
  /** Why the latest request failed. */
  readonly failure: Failure | undefined;
  /** Whether the data is not that of the latest variables yet. */
  readonly isLoading: boolean;
  /** Whether the data is still that of other variables, such as a filter that was changed since. */
  readonly isOutdated: boolean;
  /** Sends the query again. */
  reload(): void;
  /** Replaces the data, by what a mutation returned. */
  setData(data: Result): void;
}

interface Loaded<Result> {
  readonly key: string | undefined;
  /** What stands for the variables. */
  readonly content?: string | undefined;
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
  const content = variables === undefined ? undefined : (version ?? JSON.stringify(variables));
  const key = content === undefined ? undefined : `${generation} ${content}`;
  const wanted = useRef<{ key?: string | undefined; content?: string | undefined; variables?: Variables | undefined }>({});
  const isSending = useRef(false);

  // biome-ignore lint/correctness/useExhaustiveDependencies: the key stands for the variables, a new object each time
  useEffect(() => {
    wanted.current = { key, content, variables };
    void sendLatest();

    async function sendLatest() {
      if (isSending.current) return;
      isSending.current = true;
      let sent: string | undefined;
      while (wanted.current.key !== undefined && wanted.current.key !== sent) {
        const { key, content, variables } = wanted.current;
        sent = key;
        const result = await sendPage(client, document, variables as Variables).then(
          ({ response }) => ({ data: response.data }),
          (error) => ({ failure: toFailure(error) }),
        );
        if (wanted.current.key === key)
          setLoaded((previous) => ({ ...(previous.content === content && { data: previous.data }), ...result, key, content }));
      }
      isSending.current = false;
    }
  }, [key, client, document]);
  // A component that is gone wants nothing: what is in flight is the last request.
  useEffect(
    () => () => {
      wanted.current = {};
    },
    [],
  );

  const reload = useCallback(() => setGeneration((count) => count + 1), []);
  const setData = useCallback(
    (data: Result) => {
      setLoaded(({ key, content }) => ({ key, content, data }));
      // What is on its way may have been read before the mutation.
      if (isSending.current) reload();
    },
    [reload],
  );
  return {
    data: loaded.data,
    failure: loaded.key === key ? loaded.failure : undefined,
    isLoading: key !== undefined && loaded.key !== key,
    isOutdated: loaded.content !== content,
    reload,
    setData,
  };
}
