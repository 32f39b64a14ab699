import { isObject, memberOf } from '../group/merge.ts';

/** Longer values are cut: an event is an overview, the group has the whole value. */
const maxLength = 300;

/** How much of a value that is cut is shown before what differs. */
const contextLength = 50;

/** What an event has of a secret: that it changed. */
const secretFields: ReadonlySet<string> = new Set(['token', 'secret']);

/** A value that an event changed, as JSON; undefined where there was none, on both sides for a secret. */
export interface Change {
  /** The field; for a member of an object, such as a property, with its name: `properties.plan`. */
  readonly name: string;
  readonly before: string | undefined;
  readonly after: string | undefined;
}

/** The field that names the webhook that an event is about, and changes only when one is created or deleted. */
const webhookField = 'webhook';

/** The number of the webhook that an event is about; undefined if it is about something else. */
export function webhookNumberOf(changes: unknown): number | undefined {
  const change = memberOf(changes, webhookField);
  const number = memberOf(change, 'to') ?? memberOf(change, 'from');
  return typeof number === 'number' ? number : undefined;
}

/** The changes of an event, `{ field: { from, to } }`, one by one; those of objects by member. */
export function changesOf(value: unknown): readonly Change[] {
  if (!isObject(value)) return [];
  const isOfWebhook = webhookNumberOf(value) !== undefined;
  return Object.entries(value).flatMap(([field, change]) => {
    if (isOfWebhook && field === webhookField) return [];
    if (!isObject(change) || !('from' in change || 'to' in change)) return [changeOf(field, undefined, JSON.stringify(change))];
    const { from, to, omitted } = change;
    if (from === null && to === null && secretFields.has(field)) return [changeOf(field, undefined, undefined)];
    const sides = [from, to, memberOf(omitted, 'from'), memberOf(omitted, 'to')];
    const isByMember = [from, to].every((side) => isObject(side ?? {}));
    const members = isByMember ? [...new Set(sides.flatMap((side) => Object.keys(side ?? {})))] : [];
    if (members.length === 0) return [changeOf(field, JSON.stringify(from), JSON.stringify(to))];
    const [before, after, largeBefore, largeAfter] = sides;
    return members.map((member) =>
      changeOf(
        `${field}.${member}`,
        JSON.stringify(memberOf(before, member)) ?? printDigest(memberOf(largeBefore, member)),
        JSON.stringify(memberOf(after, member)) ?? printDigest(memberOf(largeAfter, member)),
      ),
    );
  });
}

/** A value that the event does not have, only its length and SHA-256. */
function printDigest(value: unknown): string | undefined {
  if (!isObject(value)) return undefined;
  const { bytes, sha256 } = value;
  return `${Math.ceil(Number(bytes) / 1_024)} KiB, SHA-256 ${String(sha256).slice(0, 12)}…`;
}

/** A change whose values are cut so that what differs is left. @param length the most that is shown of a value. */
export function changeOf(name: string, before: string | undefined, after: string | undefined, length = maxLength): Change {
  const [first, second] = [visible(before), visible(after)];
  const begin =
    Math.max(first?.length ?? 0, second?.length ?? 0) > maxLength ? firstDifference(first, second) - contextLength : 0;
  return { name: visible(name), before: cut(first, begin, length), after: cut(second, begin, length) };
}

/** The beginning of a name, which may have 64 KiB. */
export const shortName = (name: string): string => cut(name, 0, maxLength) ?? '';

/** A text with escapes for characters that reverse the text after them. */
function visible<Text extends string | undefined>(text: Text): Text {
  return text?.replace(
    /\p{Bidi_Control}/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  ) as Text;
}

function firstDifference(before = '', after = ''): number {
  let index = 0;
  while (index < before.length && before[index] === after[index]) index += 1;
  return index;
}

/** A part of a text from an index on. Half a character, which the ends may leave, is not shown. */
function cut(text: string | undefined, begin: number, length: number): string | undefined {
  if (text === undefined) return undefined;
  const start = Math.max(0, begin);
  const end = start + length;
  const part = text.slice(start, end).replace(/^[\uDC00-\uDFFF]|[\uD800-\uDBFF]$/g, '');
  return `${start > 0 ? '…' : ''}${part}${text.length > end ? '…' : ''}`;
}
