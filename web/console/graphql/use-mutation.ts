import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { holdUnsaved } from '../app/router.tsx';
import { useSession } from '../app/session.tsx';
import { useMessage } from '../ui/messages.tsx';
import type { Client } from './client.ts';
import { type Failure, toFailure } from './failure.ts';
import { keyedClient } from './keyed-client.ts';

/** A change that a person can start. */
export interface MutationState<Arguments extends readonly unknown[], Result> {
  readonly isRunning: boolean;
  /** Whether what it sends must stay as it is: it runs, or may have been made. Running it again finds that out. */
  readonly isLocked: boolean;
  /** Why the latest run failed. */
  readonly failure: Failure | undefined;
  /** Starts it. @returns its result; nothing if it failed, one is running already, or the person has left the page meanwhile. */
  run(...values: Arguments): Promise<Result | undefined>;
  /** Forgets the failure: its cause was edited away. Not while it is locked. */
  reset(): void;
  /** Forgets the failure, and a change of which it is not known whether it was made: the same one is a new change from now on. */
  giveUp(): void;
}

/**
 * A change that is not made twice when it is run again, after a failure, with the same operations. While it runs, and while it is
 * not known whether it was made, leaving the page is asked about; nothing more of it is sent afterwards.
 *
 * @param change sends the operations; must throw a {@link Failure} when one fails. Need not be stable.
 * @param onStale called when what the page shows may be out of date: it is not known whether a change was made, or an earlier run
 *   made it, and others may have followed since. Need not be stable either.
 */
export function useMutation<Arguments extends readonly unknown[], Result>(
  change: (client: Client, ...values: Arguments) => Promise<Result>,
  onStale?: () => void,
): MutationState<Arguments, Result> {
  const session = useSession();
  const showMessage = useMessage();
  const latestOnStale = useRef(onStale);
  latestOnStale.current = onStale;
  const client = useMemo(() => keyedClient(session.client, () => latestOnStale.current?.()), [session.client]);
  const [state, setState] = useState<{ isRunning: boolean; failure?: Failure }>({ isRunning: false });
  const isSending = useRef(false);
  const isGone = useRef(false);
  /** Ends what asks a person who leaves the page. */
  const hold = useRef<() => void>(undefined);
  const release = useCallback(() => {
    hold.current?.();
    hold.current = undefined;
  }, []);
  useEffect(() => {
    isGone.current = false;
    return () => {
      isGone.current = true;
      release();
    };
  }, [release]);
  const run = async (...values: Arguments) => {
    // A second click may come before the button is disabled.
    if (isSending.current) return undefined;
    isSending.current = true;
    showMessage(''); // one of an earlier change must not seem to be of this one
    setState({ isRunning: true });
    hold.current ??= holdUnsaved();
    const send: Client['send'] = async (...operation) => {
      if (isGone.current) throw new Error('The person has left the page.');
      return client.send(...operation);
    };
    try {
      const result = await change({ ...client, send }, ...values);
      release();
      setState({ isRunning: false });
      return isGone.current ? undefined : result;
    } catch (error) {
      const failure = toFailure(error);
      setState({ isRunning: false, failure });
      if (failure.isOutcomeUnknown) onStale?.();
      else release();
      return undefined;
    } finally {
      isSending.current = false;
    }
  };
  const reset = useCallback(() => setState((now) => (now.failure?.isOutcomeUnknown ? now : { isRunning: now.isRunning })), []);
  const giveUp = useCallback(() => {
    client.forget();
    release();
    setState(({ isRunning }) => ({ isRunning }));
  }, [client, release]);
  const { isRunning, failure } = state;
  return { isRunning, isLocked: isRunning || failure?.isOutcomeUnknown === true, failure, run, reset, giveUp };
}
