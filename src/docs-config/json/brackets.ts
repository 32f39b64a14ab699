import type { Reading } from './parse-json.ts';
import { removal } from './parser-state.ts';
import type { ArrayNode, Member, ObjectNode } from './syntax-tree.ts';

/** An object or array that is open, and what is expected in it. */
export interface Frame {
  readonly node: ObjectNode | ArrayNode;
  /** `first`: anything or the end; `next`: behind a comma; `colon`: behind a key; `value`: behind a colon; `after`: behind a value. */
  state: 'first' | 'next' | 'colon' | 'value' | 'after';
  member: Member | undefined;
  /** Where the last comma stands. */
  comma: number;
  /** Whether an object is among the items so far. Kept, because looking for one each time would not be linear. */
  holdsObject: boolean;
}

/** An object or array that was just opened. */
export function openFrame(node: ObjectNode | ArrayNode): Frame {
  return { node, state: 'first', member: undefined, comma: 0, holdsObject: false };
}

/** Ends the innermost object or array at its closing bracket. */
export function closeFrame({ scanner, frames }: Reading): void {
  const frame = frames.pop();
  scanner.lost = false;
  scanner.at++;
  scanner.lastEnd = scanner.at;
  if (frame) frame.node.end = scanner.at;
}

/** A closing bracket of the other kind: one was forgotten before it, or it is one too many, or the wrong one. */
export function mismatch(reading: Reading, code: number): void {
  const { scanner, frames } = reading;
  const top = frames.at(-1) as Frame;
  const range = { start: scanner.at, end: scanner.at + 1 };
  scanner.lost = false;
  const found = String.fromCharCode(code);
  const expected = closing(top);
  reading.surplus ??= surplusOf(reading);
  if (reading.surplus > 0) {
    reading.surplus--;
    scanner.at++;
    const message = `This ${found} is one too many: ${expected} closes what is open here.`;
    const suggestion = `Remove this ${found}.`;
    const certain = scanner.text[range.start - 1] === found;
    scanner.report(certain ? removal(range, message, suggestion) : { range, message, suggestion });
    scanner.lost = !certain;
    return;
  }
  top.node.damaged = true;
  const wanted = found === '}' ? 'object' : 'array';
  const outer = frames.findLastIndex(({ node }) => node.kind === wanted);
  if (outer === -1) {
    scanner.at++;
    const opener = found === '}' ? '{' : '[';
    scanner.report({
      range,
      message: `There is no ${opener} that this ${found} could close.`,
      suggestion: `Write ${opener} where it opens, or remove this ${found}.`,
    });
    scanner.lost = true;
    return;
  }
  if (isIndentedAs(scanner.text, scanner.at, top.node.start)) {
    closeFrame(reading);
    scanner.report({
      range,
      message: `A ${opening(top)} is closed by ${found}.`,
      suggestion: `Write ${expected} instead.`,
      fix: { range, newText: expected },
    });
    return;
  }
  if (reading.surplus === 0 && isOnLineOf(scanner.text, scanner.at, top.node.start)) {
    closeFrame(reading);
    scanner.report({ range, message: `A ${opening(top)} is closed by ${found}.`, suggestion: `Write ${expected} instead.` });
    return;
  }
  reading.surplus += frames.length - 1 - outer;
  scanner.report({
    range,
    message: (line) => `The ${opening(top)} of line ${line(top.node.start)} is not closed before this ${found}.`,
    suggestion: `Put ${expected} before it.`,
  });
  while (frames.length - 1 > outer) {
    const frame = frames.pop() as Frame;
    frame.node.damaged = true;
    frame.node.end = scanner.lastEnd;
  }
  const match = frames.at(-1) as Frame;
  match.node.damaged = true;
  match.state = 'after';
  closeFrame(reading);
}

/** The text ended with brackets open. */
export function closeUnended({ scanner, frames }: Reading): void {
  const innermost = frames.at(-1) as Frame;
  const { start } = innermost.node;
  for (const { node } of frames) {
    node.damaged = true;
    node.end = scanner.text.length;
  }
  const missing = frames.map(closing).reverse().join('');
  scanner.report({
    range: { start, end: start + 1 },
    message: `This ${opening(innermost)} is never closed.`,
    suggestion:
      missing.length > 20
        ? `Close it; ${missing.length} brackets are open at the end.`
        : `Close it; at the end of the file ${missing} is missing.`,
  });
}

function closing({ node }: Frame): string {
  return node.kind === 'object' ? '}' : ']';
}

function opening({ node }: Frame): string {
  return node.kind === 'object' ? '{' : '[';
}

/** Whether a bracket that begins its line is indented as the line of its supposed opener, which is then surely meant. */
function isIndentedAs(text: string, closer: number, opener: number): boolean {
  const own = text.slice(lineStart(text, closer), closer);
  const line = lineStart(text, opener);
  if (own.trim() !== '' || line === lineStart(text, closer)) return false;
  return /^\s*/.exec(text.slice(line, opener))?.[0] === own;
}

function isOnLineOf(text: string, closer: number, opener: number): boolean {
  return closer - opener < 300 && !text.slice(opener, closer).includes('\n');
}

/** Brackets closed less those opened in the rest of the text, less those that are open. Asked for once, so it stays linear. */
export function surplusOf({ scanner: { text, at }, frames }: Reading): number {
  let surplus = -frames.length;
  for (; at < text.length; at++) {
    const mark = text[at] as string;
    if (mark === '"') {
      while (++at < text.length && text[at] !== '"' && text[at] !== '\n') if (text[at] === '\\') at++;
    } else if (mark === '{' || mark === '[') surplus--;
    else if (mark === '}' || mark === ']') surplus++;
  }
  return surplus;
}

function lineStart(text: string, at: number): number {
  let start = at;
  while (start > 0 && start > at - 300 && text[start - 1] !== '\n') start--;
  return start;
}
