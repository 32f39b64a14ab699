/** Longer values are cut: an event is an overview, the group has the whole value. */
const maxLength = 300;

/** A value that an event changed, as text; undefined where there was none. */
export interface Change {
  /** The field; for a member of an object, such as a property, with its name: `properties.plan`. */
  readonly name: string;
  readonly before: string | undefined;
  readonly after: string | undefined;
}

/** The changes of an event, `{ field: { from, to } }`, one by one; those of objects by member. */
export function changesOf(value: unknown): readonly Change[] {
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([field, change]) => {
    if (!isObject(change) || !('from' in change || 'to' in change)) {
      return [{ name: field, before: undefined, after: print(change) }];
    }
    const { from, to, omitted } = change;
    const members = membersOf(from, to);
    if (!members) return [{ name: field, before: print(from), after: print(to) }];
    const [before, after] = members;
    const [largeBefore, largeAfter] = isObject(omitted) ? (membersOf(omitted['from'], omitted['to']) ?? [{}, {}]) : [{}, {}];
    return [...new Set([before, after, largeBefore, largeAfter].flatMap((side) => Object.keys(side)))].map((member) => ({
      name: `${field}.${member}`,
      before: print(before[member]) ?? printDigest(largeBefore[member]),
      after: print(after[member]) ?? printDigest(largeAfter[member]),
    }));
  });
}

type Members = Readonly<Record<string, unknown>>;

/** The members of an object that was changed, which may not have been there before, or is gone; undefined for other values. */
function membersOf(from: unknown, to: unknown): readonly [before: Members, after: Members] | undefined {
  if (!isObject(from ?? {}) || !isObject(to ?? {}) || (from == null && to == null)) return undefined;
  return [(from ?? {}) as Members, (to ?? {}) as Members];
}

function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A value that the event does not have, only its length and SHA-256. */
function printDigest(value: unknown): string | undefined {
  if (!isObject(value)) return undefined;
  const { bytes, sha256 } = value;
  return `${Math.ceil(Number(bytes) / 1_024)} KiB, SHA-256 ${String(sha256).slice(0, 12)}…`;
}

function print(value: unknown): string | undefined {
  if (value === null || value === undefined) return undefined;
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > maxLength ? `${text.slice(0, maxLength)}…` : text;
}
