/**
 * When a day such as `2026-01-31` begins in the time zone of the person, or the one `daysLater` days later, as the API expects
 * it; undefined if it is not a day of the calendar.
 */
export function dayStart(day: string, daysLater = 0): string | undefined {
  const [, year, month, date] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(day) ?? [];
  if (!year) return undefined;
  const start = new Date(Number(year), Number(month) - 1, Number(date) + daysLater);
  const isDay = new Date(`${day}T00:00Z`).getUTCDate() === Number(date); // 2020-02-30 would be a day in March
  return isDay && !Number.isNaN(start.getTime()) ? start.toISOString() : undefined;
}
