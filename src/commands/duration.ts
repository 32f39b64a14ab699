const unitsMs: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/** The longest duration: a hundred years. */
const maxDurationMs = 100 * 52 * 604_800_000;

/**
 * Reads a number and a unit, such as 30s, 12h or 90d, as milliseconds; undefined when it is none, zero, or above a hundred years.
 */
export function readDurationMs(text: string): number | undefined {
  const [, amount = '', unit = ''] = /^(\d{1,6})([smhdw])$/.exec(text) ?? [];
  const duration = Number(amount) * (unitsMs[unit] ?? 0);
  return duration > 0 && duration <= maxDurationMs ? duration : undefined;
}
