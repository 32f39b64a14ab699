import { GatewayError, shorten } from '../domain/errors.ts';
import { isExactNumber } from '../domain/exact-number.ts';

/** An object or a list that the reader is inside of, and where in it. */
interface Frame {
  readonly container: Record<string | number, unknown>;
  /** The members met so far; a list has none. */
  readonly members: Set<string> | undefined;
  /** The member or the position whose value comes next. */
  at: string | number;
}

/**
 * Reads strict JSON. Beyond `JSON.parse` it refuses a member given twice, of which one would be lost, and turns a number
 * that would be changed by being read (`1e400`, more digits than a float carries) into `NaN`, so that whoever uses the
 * value refuses it at its place, and whoever ignores it does not care.
 *
 * @param what names the text in errors.
 * @throws GatewayError `MALFORMED_JSON` that says where.
 */
export function parseJson(text: string, what = 'The body'): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const byteOrderMark = text.startsWith('\uFEFF') ? 'it begins with a byte order mark.' : (error as Error).message;
    throw new GatewayError('MALFORMED_JSON', `${what} is not JSON: ${byteOrderMark}`);
  }
  inspect(text, value, what);
  return value;
}

/** What can be told only from the text. It is known to be JSON, so every token can be taken at its first character. */
function inspect(text: string, value: unknown, what: string): void {
  const frames: Frame[] = [];
  let frame: Frame | undefined;
  let expectsMember = false;
  for (let i = 0; i < text.length; i += 1) {
    const character = text[i];
    switch (character) {
      case '{':
      case '[': {
        const container = (frame ? frame.container[frame.at] : value) as Frame['container'];
        if (frame) frames.push(frame);
        expectsMember = character === '{';
        frame = { container, members: expectsMember ? new Set() : undefined, at: 0 };
        break;
      }
      case '}':
      case ']':
        frame = frames.pop();
        expectsMember = false;
        break;
      case ',':
        if (frame?.members) expectsMember = true;
        else if (frame) frame.at = (frame.at as number) + 1;
        break;
      case '"': {
        const end = stringEnd(text, i);
        if (expectsMember && frame?.members) {
          const member = decode(text.slice(i, end));
          if (frame.members.has(member)) throw duplicate(what, member, i);
          frame.members.add(member);
          frame.at = member;
          expectsMember = false;
        }
        i = end - 1;
        break;
      }
      default:
        if (character === '-' || (character !== undefined && character >= '0' && character <= '9')) {
          const end = numberEnd(text, i);
          if (frame && !isExactNumber(text.slice(i, end))) frame.container[frame.at] = Number.NaN;
          i = end - 1;
        }
    }
  }
}

/** The position behind a string's closing quote: the first quote that no odd number of backslashes precedes. */
function stringEnd(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); ; end = text.indexOf('"', end + 1)) {
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

function duplicate(what: string, member: string, offset: number): GatewayError {
  return new GatewayError(
    'MALFORMED_JSON',
    `${what} has the member ${JSON.stringify(shorten(member))} twice in one object, at position ${offset}.`,
  );
}

/**
 * Reads a query string. Unlike `URLSearchParams` alone it refuses bytes that are not UTF-8, which would all become the same
 * character.
 *
 * @throws GatewayError `MALFORMED_JSON`.
 */
export function parseQuery(query: string): URLSearchParams {
  try {
    decodeURIComponent(query);
  } catch {
    throw new GatewayError('MALFORMED_JSON', 'The query string is not valid: what is percent-encoded must be UTF-8.');
  }
  return new URLSearchParams(query);
}
