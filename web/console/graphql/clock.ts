/** How far the clock of the gateway is ahead of that of the browser, which may be set to anything. */
let aheadMs = 0;

/**
 * Sets the clock by a response, up to a second ahead, so that nothing that was just created seems to be in the future.
 *
 * @param date its header `Date`, which is cut to whole seconds.
 */
export function setClock(date: string | null): void {
  const time = Date.parse(date ?? '');
  if (!Number.isNaN(time)) aheadMs = time + 1_000 - Date.now();
}

/** The time of the gateway in milliseconds, which times are shown relative to. What has expired is decided by the database. */
export const gatewayNow = (): number => Date.now() + aheadMs;
