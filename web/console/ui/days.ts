/**
 * When a day such as `2026-01-31` begins in the time zone of the person, or the one `daysLater` days later, as the API expects
 * it; undefined if it is not a day of the calendar, from the year 1000 on. After the last day that the API has comes its end.
 */
export function dayStart(day: string, daysLater = 0): string | undefined {
  const [, year, month, date] = /^([1-9]\d{3})-(\d\d)-(\d\d)$/.exec(day) ?? [];
  if (!year) return undefined;
  const start = new Date(Number(year), Number(month) - 1, Number(date) + daysLater);
  const isDay = new Date(`${day}T00:00Z`).getUTCDate() === Number(date); // 2020-02-30 would be a day in March
  const time = Math.min(start.getTime(), Date.UTC(9999, 11, 31, 23, 59, 59, 999));
  return isDay && !Number.isNaN(time) ? new Date(time).toISOString() : undefined;
}
