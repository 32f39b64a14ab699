/** How far the clock of the gateway is ahead of that of the browser, which may be set to anything. */
let aheadMs = 0;

/** Sets the clock by a response. @param date its header `Date`, in whole seconds. */
export function setClock(date: string | null): void {
  const time = Date.parse(date ?? '');
  if (!Number.isNaN(time)) aheadMs = time - Date.now();
}

/** The time of the gateway in milliseconds: which tokens have expired, and when new ones do, is decided there. */
export const gatewayNow = (): number => Date.now() + aheadMs;
