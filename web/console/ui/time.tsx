import { gatewayNow } from '../graphql/clock.ts';

const exact = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'medium' });
const day = new Intl.DateTimeFormat('en', { dateStyle: 'medium' });
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });

const units = [
  ['minute', 60_000, 60],
  ['hour', 3_600_000, 24],
  ['day', 86_400_000, 14],
] as const;

/** A point in time relative to now, such as `3 hours ago`; its day, when it is more than two weeks away. */
function describe(time: Date): string {
  const distanceMs = time.getTime() - gatewayNow();
  if (Math.abs(distanceMs) < 60_000) return distanceMs > 0 ? 'in less than a minute' : 'just now';
  for (const [unit, lengthMs, most] of units) {
    const count = Math.round(distanceMs / lengthMs);
    if (Math.abs(count) < most) return relative.format(count, unit);
  }
  return day.format(time);
}

/** A point in time, relative to now; the exact one, in the time zone of the person, as a tooltip. */
export function Time({ value, isExact = false }: { readonly value: string; readonly isExact?: boolean }) {
  const time = new Date(value);
  return (
    <time dateTime={value} title={`${exact.format(time)} (${value})`}>
      {isExact ? exact.format(time) : describe(time)}
    </time>
  );
}
