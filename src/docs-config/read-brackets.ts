import type { ArrayNode, Member, ObjectNode } from './json-tree.ts';
import type { Reading } from './read-json.ts';
import { removal } from './scanner.ts';

/** An object or array that is open, and what is expected in it. */
export interface Frame {
  readonly node: ObjectNode | ArrayNode;
  /** `first`: anything or the end; `next`: behind a comma; `colon`: behind a key; `value`: behind a colon; `after`: behind a value. */
  state: 'first' | 'next' | 'colon' | 'value' | 'after';
  member: Member | undefined;
  /** Where the last comma stands. */
  comma: number;
}

/** Ends the innermost object or array at its closing bracket. */
export function closeFrame({ scanner, frames }: Reading): void {
  const frame = frames.pop();
  scanner.at++;
  scanner.lastEnd = scanner.at;
  if (frame) frame.node.end = scanner.at;
}

/** A closing bracket of the other kind: one was forgotten before it, or it is one too many, or the wrong one. */
export function mismatch(reading: Reading, code: number): void {
  const { scanner, frames } = reading;
  const top = frames.at(-1) as Frame;
  const range = { start: scanner.at, end: scanner.at + 1 };
  const found = String.fromCharCode(code);
  const expected = closing(top);
  top.node.damaged = true;
  const wanted = found === '}' ? 'object' : 'array';
  const outer = frames.findLastIndex(({ node }) => node.kind === wanted);
  if (outer === -1) {
    scanner.at++;
    scanner.report(removal(range, `There is no open bracket that this ${found} could close.`, `Remove this ${found}.`));
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

function lineStart(text: string, at: number): number {
  let start = at;
  while (start > 0 && start > at - 300 && text[start - 1] !== '\n') start--;
  return start;
}
