import { InvalidInput, type Issue, maxIssues } from './errors.ts';
import { controls } from './terminal-text.ts';

/** The most characters (code points) of an id, a name and the like. */
export const maxTextLength = 255;

/** The most bytes of properties, and of a mapping, as JSON, and the most levels of properties. */
export const maxJsonBytes = 64 * 1024;
export const maxPropertiesDepth = 32;

export const tooLarge = `must have at most ${maxJsonBytes / 1024} KiB as JSON.`;

type Path = Issue['path'];

/** A JSON value. */
export type Json = null | boolean | number | string | Json[] | { [member: string]: Json };

/** An input as it was sent: its members may be missing or of any type. */
export type Unchecked<Member extends string> = { readonly [Name in Member]?: unknown };

/**
 * Checks a whole input. Reports every issue, up to ten, and stops at the tenth. Operations require their scope before, so that a
 * caller without it learns nothing about the input and causes no further work.
 *
 * @throws InvalidInput.
 */
export type InputCheck<Input> = (input: Input) => void;

/** The check that finds the issues which a function lists. */
export const checkOf =
  <Input>(issuesOf: (input: Input) => Iterable<Issue>): InputCheck<Input> =>
  (input) =>
    assertNoIssues(issuesOf(input));

/** Takes issues until there are as many as are listed. @throws InvalidInput when there is one. */
export function assertNoIssues(issues: Iterable<Issue>): void {
  const found: Issue[] = [];
  for (const issue of issues) if (found.push(issue) === maxIssues) break;
  if (found.length > 0) throw new InvalidInput(found);
}

/** The issues of a required text of any type: its type, its length in characters, and characters that PostgreSQL cannot store. */
export function textIssues(path: Path, text: unknown): Issue[] {
  const fault = text == null ? 'is required.' : textFault(text, 1);
  return fault ? [{ path, message: fault }] : [];
}

/** The issues of a text of any type that is to be stored as an id, a name or the like: control characters, too. */
export function newTextIssues(path: Path, text: unknown): Issue[] {
  const issues = textIssues(path, text);
  const index = issues.length > 0 ? -1 : (text as string).search(controls);
  if (index < 0) return issues;
  const code = `U+${(text as string).charCodeAt(index).toString(16).toUpperCase().padStart(4, '0')}`;
  const position = [...(text as string).slice(0, index)].length + 1;
  return [{ path, message: `must not contain control characters or invisible marks; character ${position} is ${code}.` }];
}

/** The issues of fields of a change that must not be null, by name. */
export const nullIssues = (fields: Readonly<Record<string, unknown>>): Issue[] =>
  Object.entries(fields)
    .filter(([, value]) => value === null)
    .map(([name]) => ({ path: [name], message: 'must not be null; omit it to keep the current value.' }));

export function textFault(text: unknown, minLength: number): string | undefined {
  if (typeof text !== 'string') return 'must be a string.';
  if (isLongerThan(maxTextLength, text) || text.length < minLength) {
    return `must have ${minLength > 0 ? `${minLength} to` : 'at most'} ${maxTextLength} characters.`;
  }
  return characterFault(text);
}

/** Whether a text has more characters than `max`. A character has one or two UTF-16 units, so few texts need counting. */
function isLongerThan(max: number, text: string): boolean {
  return text.length > 2 * max || (text.length > max && [...text].length > max);
}

export function characterFault(text: string): string | undefined {
  if (text.includes('\0')) return 'must not contain the character NUL (U+0000).';
  return text.isWellFormed() ? undefined : 'must not contain a lone surrogate (half of a character).';
}

/**
 * The issues of properties of any type: not an object, too large, too deep, or values that do not survive a round trip through
 * JSON. At most ten issues. The depth of what was parsed is bounded.
 */
export function propertiesIssues(path: Path, properties: unknown): Issue[] {
  if (typeof properties !== 'object' || properties === null || Array.isArray(properties))
    return [{ path, message: 'must be a JSON object.' }];
  if (Buffer.byteLength(JSON.stringify(properties)) > maxJsonBytes) return [{ path, message: tooLarge }];
  const issues: Issue[] = [];
  inspect(properties as Json, path, 1, issues);
  return issues;
}

function inspect(value: Json, path: Path, depth: number, issues: Issue[]): void {
  if (issues.length >= maxIssues) return;
  const fault = valueFault(value, depth);
  if (fault) return void issues.push({ path, message: fault });
  if (typeof value !== 'object' || value === null) return;
  for (const [member, item] of Array.isArray(value) ? value.entries() : Object.entries(value)) {
    const name = typeof member === 'string' ? (characterFault(member) ?? nameFault(member)) : undefined;
    if (!name) inspect(item, [...path, member], depth + 1, issues);
    else if (issues.length < maxIssues) issues.push({ path: [...path, member], message: name });
  }
}

function valueFault(value: Json, depth: number): string | undefined {
  if (typeof value === 'string') return characterFault(value);
  if (typeof value === 'number' && !Number.isFinite(value)) {
    return 'is a number that cannot be represented exactly; send it as a string.';
  }
  const tooDeep = depth > maxPropertiesDepth && typeof value === 'object' && value !== null;
  return tooDeep ? `is nested more than ${maxPropertiesDepth} levels deep.` : undefined;
}

/** The one name that JavaScript libraries between us and the database take for more than data. */
export function nameFault(name: unknown): string | undefined {
  return name === '__proto__' ? 'is a reserved name.' : undefined;
}

/** A time as ISO 8601 writes it, or in milliseconds. */
export function readTime(part: string | number): Date | undefined {
  const time = new Date(part);
  return isStorable(time) ? time : undefined;
}

/** From `from`, which is included, to `to`, which is not; null counts as omitted. */
export interface DateTimeRange {
  readonly from?: Date | null | undefined;
  readonly to?: Date | null | undefined;
}

/** PostgreSQL and ISO 8601 have the years 1 to 9999 in common. */
const isStorable = (time: Date): boolean =>
  time.getTime() >= Date.parse('0001-01-01T00:00:00.000Z') && time.getTime() <= Date.parse('9999-12-31T23:59:59.999Z');

/** The issues of a time that is to be stored or compared with a stored one; null and undefined have none. */
export const timeIssues = (path: Path, time: Date | null | undefined): Issue[] =>
  time == null || isStorable(time) ? [] : [{ path, message: 'must be in the years 1 to 9999, in UTC.' }];

/** The issues of a range of time. */
export function* rangeIssues(path: Path, range: DateTimeRange | null | undefined): Generator<Issue> {
  const { from, to } = range ?? {};
  yield* timeIssues([...path, 'from'], from);
  yield* timeIssues([...path, 'to'], to);
  if (from && to && from > to) yield { path: [...path, 'to'], message: 'must not be before from.' };
}
