import { visit } from 'jsonc-parser';
import { GatewayError, shorten } from './errors.ts';
import { httpLimits } from './http-limits.ts';
import type { Json } from './input.ts';

/**
 * Whether a JSON number, as text, survives being read as a 64-bit float and printed again: the same digits and exponent,
 * however written. `1.50` and `1e3` do; `1e400` and `12345678901234567890` do not, and would be stored as something else.
 * Linear in the length of the text.
 */
export function isExactNumber(text: string): boolean {
  if (/^-?\d{1,15}$/.test(text)) return true; // the usual case
  const value = Number(text);
  return Number.isFinite(value) && normalize(text) === normalize(String(value));
}

const zero = 0x30;

/** A number's significant digits and the power of ten of the last one; the sign of zero is dropped. */
function normalize(text: string): string {
  const sign = text.startsWith('-') ? '-' : '';
  const mark = text.search(/e/i);
  const end = mark === -1 ? text.length : mark;
  const point = text.indexOf('.');
  const whole = text.slice(sign.length, point === -1 ? end : point);
  const fraction = point === -1 ? '' : text.slice(point + 1, end);
  const digits = whole + fraction;
  // By index and not by a regular expression: /0+$/ takes time by the square of a run of zeros that does not end the text.
  let first = 0;
  while (digits.charCodeAt(first) === zero) first++;
  let last = digits.length;
  while (last > first && digits.charCodeAt(last - 1) === zero) last--;
  if (first === last) return '0';
  const exponent = mark === -1 ? 0 : Number(text.slice(mark + 1));
  return `${sign}${digits.slice(first, last)}e${exponent - fraction.length + digits.length - last}`;
}

const { maxJsonDepth } = httpLimits;

/** An object or a list that the reader is inside of, and where in it. */
interface Frame {
  readonly container: Record<string | number, unknown>;
  readonly isObject: boolean;
  /** Members or separators met so far. */
  count: number;
  /** Where the text of the current member's name begins and ends; of a list, 0. */
  nameStart: number;
  nameEnd: number;
}

/**
 * Parses strict JSON. Unlike `JSON.parse` it rejects duplicate members, because one would be lost, and turns a number that a
 * float cannot represent exactly (`1e400`, too many digits) into `NaN`, so that code that uses the value can reject it with its
 * path.
 *
 * @param what the name of the text in errors.
 * @throws GatewayError `MALFORMED_JSON` with the position; `INVALID_INPUT` when it is nested too deep, before it is parsed.
 */
export function parseJson(text: string, what = 'The body'): unknown {
  if (text.length > maxJsonDepth && isDeeperThan(text, maxJsonDepth)) {
    throw new GatewayError('INVALID_INPUT', `${what} exceeds the limit of ${maxJsonDepth} levels of nesting.`);
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const byteOrderMark = text.startsWith('\uFEFF') ? 'it starts with a byte order mark.' : (error as Error).message;
    throw new GatewayError('MALFORMED_JSON', `${what} is not valid JSON: ${byteOrderMark}`);
  }
  inspect(text, value, what);
  return value;
}

/** Whether brackets are nested deeper than `limit`, strings left out; of a text that may not be JSON, about. */
function isDeeperThan(text: string, limit: number): boolean {
  let depth = 0;
  for (let i = 0; i < text.length; i += 1) {
    switch (text.charCodeAt(i)) {
      case 0x7b: // {
      case 0x5b: // [
        depth += 1;
        if (depth > limit) return true;
        break;
      case 0x7d: // }
      case 0x5d: // ]
        depth -= 1;
        break;
      case 0x22: // "
        i = stringEnd(text, i) - 1;
        break;
    }
  }
  return false;
}

/**
 * Checks what is lost once the text is parsed: members given twice, and numbers that were changed. The text is known to be JSON,
 * so every token can be recognized by its first character. Names are decoded only where they are needed.
 */
function inspect(text: string, value: unknown, what: string): void {
  const frames: Frame[] = [];
  let frame: Frame | undefined;
  let expectsName = false;
  for (let i = 0; i < text.length; i += 1) {
    switch (text.charCodeAt(i)) {
      case 0x7b: // {
      case 0x5b: {
        // [
        const isObject = text.charCodeAt(i) === 0x7b;
        const container = frame ? frame.container[placeIn(frame, text)] : value;
        // Another value of a member with the same name: the last one is kept.
        if (typeof container !== 'object' || container === null) throw duplicate(text, what);
        if (frame) frames.push(frame);
        frame = { container: container as Frame['container'], isObject, count: 0, nameStart: 0, nameEnd: 0 };
        expectsName = isObject;
        break;
      }
      case 0x7d: // }
        // JSON.parse keeps one of those with the same name.
        if (frame && frame.count !== Object.keys(frame.container).length) throw duplicate(text, what);
        frame = frames.pop();
        expectsName = false;
        break;
      case 0x5d: // ]
        frame = frames.pop();
        expectsName = false;
        break;
      case 0x2c: // ,
        if (frame?.isObject) expectsName = true;
        else if (frame) frame.count += 1;
        break;
      case 0x22: {
        // "
        const end = stringEnd(text, i);
        if (expectsName && frame) {
          frame.count += 1;
          frame.nameStart = i;
          frame.nameEnd = end;
          expectsName = false;
        }
        i = end - 1;
        break;
      }
      default:
        if (isNumberStart(text.charCodeAt(i))) {
          const end = numberEnd(text, i);
          if (frame && !isExactNumber(text.slice(i, end))) frame.container[placeIn(frame, text)] = Number.NaN;
          i = end - 1;
        }
    }
  }
}

/** The name of the current member, or the position of the current item. */
const placeIn = ({ isObject, count, nameStart, nameEnd }: Frame, text: string): string | number =>
  isObject ? decode(text.slice(nameStart, nameEnd)) : count;

const isNumberStart = (code: number): boolean => code === 0x2d || (code >= 0x30 && code <= 0x39);

/** The position behind a string's closing quote, the first that no odd number of backslashes precedes; the end without one. */
function stringEnd(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); ; end = text.indexOf('"', end + 1)) {
    if (end < 0) return text.length; // not JSON
    let backslashes = 0;
    while (text[end - 1 - backslashes] === '\\') backslashes += 1;
    if (backslashes % 2 === 0) return end + 1;
  }
}

function numberEnd(text: string, start: number): number {
  let end = start + 1;
  while (end < text.length && '0123456789+-.eE'.includes(text[end] as string)) end += 1;
  return end;
}

const decode = (quoted: string): string => (quoted.includes('\\') ? JSON.parse(quoted) : quoted.slice(1, -1));

/** Names the first member that is given twice; the text is known to have one. */
function duplicate(text: string, what: string): GatewayError {
  const outer: Set<string>[] = [];
  let found = '';
  visit(text, {
    onObjectBegin: () => void outer.push(new Set()),
    onObjectEnd: () => void outer.pop(),
    onObjectProperty(name, offset) {
      const names = outer.at(-1);
      if (names?.has(name)) found ||= `${JSON.stringify(shorten(name))} in one object, at position ${offset}`;
      names?.add(name);
    },
  });
  return new GatewayError('MALFORMED_JSON', `${what} has the duplicate member ${found}.`);
}

/**
 * Parses a query string. Unlike `URLSearchParams` it rejects bytes that are not UTF-8, which would all become the same
 * character.
 *
 * @throws GatewayError `MALFORMED_JSON`.
 */
export function parseQuery(query: string): URLSearchParams {
  try {
    decodeURIComponent(query);
  } catch {
    throw new GatewayError('MALFORMED_JSON', 'The query string is not valid: percent-encoded bytes must be UTF-8.');
  }
  return new URLSearchParams(query);
}

/**
 * Applies a JSON Merge Patch (RFC 7396): members of the patch replace those of the target, objects in both are merged, `null`
 * removes a member, and anything that is not an object replaces the target. Neither value is changed. Members keep their places,
 * and new ones follow.
 *
 * Recursive: the depth of the patch must be bounded.
 */
export function applyMergePatch(target: Json | undefined, patch: Json): Json {
  if (!isObject(patch)) return patch;
  const members = new Map(isObject(target) ? Object.entries(target) : []);
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) members.delete(name);
    else members.set(name, applyMergePatch(members.get(name), value));
  }
  return Object.fromEntries(members); // which makes an own member of any name, `__proto__` too
}

const isObject = (value: Json | undefined): value is { [member: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
