import { setTimeout as pause } from 'node:timers/promises';

/** Waits until a condition returns a truthy value, and returns it. @throws Error that names it. */
export async function until<Value>(
  condition: () => Promise<Value> | Value,
  what: string,
  timeoutMs = 60_000,
): Promise<NonNullable<Value>> {
  for (const deadline = Date.now() + timeoutMs; ; await pause(10)) {
    const value = await condition();
    if (value) return value;
    if (Date.now() > deadline) throw new Error(`Waited ${timeoutMs / 1_000} s in vain: ${what}.`);
  }
}
