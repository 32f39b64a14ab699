/** Longer values are cut: an event is an overview, the group has the whole value. */
const maxLength = 500;

/** A field that an event changed; the values as JSON, undefined where there was none. */
export interface FieldChange {
  readonly field: string;
  readonly before: string | undefined;
  readonly after: string | undefined;
}

/** The changes of an event, `{ field: { from, to } }`, one per field. */
export function changesOf(value: unknown): readonly FieldChange[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).map(([field, change]) => {
    if (!isChange(change)) return { field, before: undefined, after: print(change) };
    return { field, before: print(change.from), after: print(change.to) };
  });
}

function isChange(value: unknown): value is { from?: unknown; to?: unknown } {
  return typeof value === 'object' && value !== null && ('from' in value || 'to' in value);
}

function print(value: unknown): string | undefined {
  if (value === null || value === undefined) return undefined;
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 1);
  return text.length > maxLength ? `${text.slice(0, maxLength)}…` : text;
}
