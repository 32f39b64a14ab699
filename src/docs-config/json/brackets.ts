import type { Frame, ParserState } from './parser-state.ts';

/** Ends the innermost object or array at its closing bracket. */
export function closeFrame({ scanner, frames }: ParserState): void {
  const frame = frames.pop();
  scanner.recovering = false;
  scanner.at++;
  scanner.lastEnd = scanner.at;
  if (frame) frame.node.end = scanner.at;
}

/** Handles a closing bracket of the other kind: one is missing before it, it is one too many, or it is the wrong one. */
export function recoverFromMismatch(parser: ParserState, code: number): void {
  const { scanner, frames } = parser;
  const top = frames.at(-1) as Frame;
  const range = { start: scanner.at, end: scanner.at + 1 };
  scanner.recovering = false;
  const found = String.fromCharCode(code);
  const expected = closingBracket(top);
  if (hasExtraClosing(parser)) {
    skipExtraClosing(parser, `This ${found} is one too many: ${expected} closes what is open here.`);
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
    scanner.recovering = true;
    return;
  }
  const bracketBalance = parser.bracketBalance ?? 0;
  const isIndented = isIndentedAs(scanner.text, scanner.at, top.node.start);
  if (isIndented || (bracketBalance === 0 && isOnLineOf(scanner.text, scanner.at, top.node.start))) {
    closeFrame(parser);
    scanner.report({
      range,
      message: `A ${openingBracket(top)} is closed by ${found}.`,
      suggestion: `Write ${expected} instead.`,
      // Where a bracket is missing as well, another one may be the wrong one.
      ...(isIndented && bracketBalance === 0 && { fix: { range, newText: expected } }),
    });
    return;
  }
  parser.bracketBalance = bracketBalance + frames.length - 1 - outer;
  scanner.report({
    range,
    message: (line) => `The ${openingBracket(top)} of line ${line(top.node.start)} is not closed before this ${found}.`,
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
  closeFrame(parser);
}

/** Ends an object at its }, unless that would end the document although keys follow and there are too many closing brackets. */
export function closeObject(parser: ParserState): void {
  const { scanner, frames } = parser;
  const next = scanner.at + 1;
  const continues = frames.length === 1 && /^[\s,]{0,200}"[^"\n]{0,100}"\s{0,20}:/.test(scanner.text.slice(next, next + 323));
  if (!continues || !hasExtraClosing(parser)) closeFrame(parser);
  else skipExtraClosing(parser, 'This } is one too many: the document continues after it.');
}

/** Whether the rest of the text closes more brackets than are open. */
export function hasExtraClosing(parser: ParserState): boolean {
  parser.bracketBalance ??= computeBracketBalance(parser);
  return parser.bracketBalance > 0;
}

/** Skips a closing bracket after {@link hasExtraClosing}. */
function skipExtraClosing(parser: ParserState, message: string): void {
  const { scanner } = parser;
  const range = { start: scanner.at, end: scanner.at + 1 };
  const found = scanner.text[range.start];
  consumeExtraClosing(parser);
  scanner.at++;
  // Which one is too many is not certain, even of two side by side.
  scanner.report({ range, message, suggestion: `Remove this ${found}.` });
  scanner.recovering = true;
}

/** Notes that one of the closing brackets too many is accounted for. */
export function consumeExtraClosing(parser: ParserState): void {
  if (parser.bracketBalance !== undefined) parser.bracketBalance--;
}

/** Reports that the text ended with brackets open, and closes them. */
export function closeAtEnd({ scanner, frames }: ParserState): void {
  const innermost = frames.at(-1) as Frame;
  const { start } = innermost.node;
  for (const { node } of frames) {
    node.damaged = true;
    node.end = scanner.text.length;
  }
  const missing = frames.map(closingBracket).reverse().join('');
  scanner.report({
    range: { start, end: start + 1 },
    message: `This ${openingBracket(innermost)} is never closed.`,
    suggestion:
      missing.length > 20
        ? `Close it; ${missing.length} brackets are open at the end.`
        : `Close it; at the end of the file ${missing} is missing.`,
  });
}

function closingBracket({ node }: Frame): string {
  return node.kind === 'object' ? '}' : ']';
}

function openingBracket({ node }: Frame): string {
  return node.kind === 'object' ? '{' : '[';
}

/** Whether a bracket at the start of its line is indented like the line of its supposed opener, which is then certainly meant. */
function isIndentedAs(text: string, closer: number, opener: number): boolean {
  const own = text.slice(lineStart(text, closer), closer);
  const line = lineStart(text, opener);
  if (own.trim() !== '' || line === lineStart(text, closer)) return false;
  return /^\s*/.exec(text.slice(line, opener))?.[0] === own;
}

function isOnLineOf(text: string, closer: number, opener: number): boolean {
  return closer - opener < 300 && !text.slice(opener, closer).includes('\n');
}

/** See {@link ParserState.bracketBalance}. Computed once per document, so parsing stays linear. */
function computeBracketBalance({ scanner: { text, at }, frames }: ParserState): number {
  let bracketBalance = -frames.length;
  for (; at < text.length; at++) {
    const mark = text[at] as string;
    if (mark === '"') {
      while (++at < text.length && text[at] !== '"' && text[at] !== '\n') if (text[at] === '\\') at++;
    } else if (mark === '{' || mark === '[') bracketBalance--;
    else if (mark === '}' || mark === ']') bracketBalance++;
  }
  return bracketBalance;
}

function lineStart(text: string, at: number): number {
  let start = at;
  while (start > 0 && start > at - 300 && text[start - 1] !== '\n') start--;
  return start;
}
