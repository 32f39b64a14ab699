import { setTimeout as pause } from 'node:timers/promises';

/** How long to wait, and what else the error says. */
export interface WaitOptions {
  /** Defaults to a minute. */
  readonly timeoutMs?: number;
  /** The output of what is waited for. */
  readonly log?: () => string;
}

/** Waits until a condition returns a truthy value, and returns it. @throws Error that names it. */
export async function until<Value>(
  condition: () => Promise<Value> | Value,
  what: string,
  { timeoutMs = 60_000, log = () => '' }: WaitOptions = {},
): Promise<NonNullable<Value>> {
  for (const deadline = Date.now() + timeoutMs; ; await pause(10)) {
    const value = await condition();
    if (value) return value;
    if (Date.now() > deadline) throw new Error(`Waited ${timeoutMs / 1_000} s without success: ${what}.\n${log()}`.trimEnd());
  }
}
