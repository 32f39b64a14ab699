import { closeAtEnd } from './brackets.ts';
import {
  createRemoval,
  createScanner,
  type Edit,
  type Frame,
  omitFix,
  type ParserState,
  type Scanner,
  type SyntaxProblem,
} from './parser-state.ts';
import { opensString } from './scan-string.ts';
import { skipTrivia } from './scan-trivia.ts';
import { endOfWord } from './scan-word.ts';
import { createPositions, openBrace, openBracket, quoteText } from './source-text.ts';
import { parseValue, stepInArray, stepInObject } from './steps.ts';

/** The result of parsing a text. */
type JsonDocument = Readonly<Pick<ParserState, 'root' | 'tooDeep'>>;

/** A text has more values and marks than the caller wants to have parsed. */
export class TooManyStepsError extends Error {}

/**
 * Parses a JSON text in one pass, without recursion and in linear time for any input. Whatever is not strict JSON is reported,
 * and parsing continues with what was most likely meant.
 *
 * @param maxSteps the most values and marks, such as brackets and commas, that the text may have.
 * @throws TooManyStepsError when it has more.
 */
export function parseJson(
  text: string,
  report: (problem: SyntaxProblem) => void,
  maxSteps = Number.POSITIVE_INFINITY,
): JsonDocument {
  const doubts = createDoubts(text);
  const document = parse(text, doubts.addProblem, maxSteps, doubts.add);
  if (doubts.hasProblems()) parse(text, (problem) => report(doubts.isCertain(problem) ? problem : omitFix(problem)), maxSteps);
  return document;
}

/** Parses it once, and reports each problem with the fix that seems right where it is. */
function parse(text: string, report: Scanner['report'], maxSteps: number, doubt: Scanner['doubt'] = () => {}): JsonDocument {
  const scanner = createScanner(text, report, doubt);
  const parser: ParserState = { scanner, frames: [], root: undefined, tooDeep: undefined, bracketBalance: undefined };
  skipTrivia(scanner, 'nothing');
  skipTextBefore(scanner);
  if (scanner.at >= text.length) {
    if (scanner.lastEnd === 0) reportEmpty(scanner);
    return parser;
  }
  parseValue(parser);
  for (let steps = 1; ; steps++) {
    if (steps > maxSteps) throw new TooManyStepsError();
    const frame = parser.frames.at(-1);
    skipTrivia(scanner, expectedIn(frame));
    if (!frame) break;
    if (scanner.at >= text.length) {
      closeAtEnd(parser);
      return parser;
    }
    if (frame.node.kind === 'object') stepInObject(parser, frame, frame.node, text.charCodeAt(scanner.at));
    else stepInArray(parser, frame, frame.node, text.charCodeAt(scanner.at));
  }
  reportTextAfter(parser);
  return parser;
}

function expectedIn(frame: Frame | undefined): 'nothing' | 'value' | 'other' {
  if (!frame) return 'nothing';
  const isValue = frame.node.kind === 'array' ? frame.state !== 'after' : frame.state === 'value';
  return isValue ? 'value' : 'other';
}

/**
 * Lines where a problem has no fix, where quotes may have another meaning, or where two lack or are one too many: the mistake may
 * not be where it shows.
 */
function createDoubts(text: string) {
  const positions = createPositions(text);
  const lineOf = (offset: number) => positions.at(offset).line;
  const lines = new Set<number>();
  const withQuote = new Set<number>();
  let problems = 0;
  return {
    add: (offset: number): void => void lines.add(lineOf(offset)),
    addProblem({ range, fix }: SyntaxProblem): void {
      problems++;
      if (!fix) lines.add(lineOf(range.start)).add(lineOf(range.end));
      else if (changesQuote(text, fix)) {
        const line = lineOf(fix.range.end);
        (withQuote.has(line) ? lines : withQuote).add(line);
      }
    },
    hasProblems: () => problems > 0,
    /** Whether a fix changes none of these lines. */
    isCertain({ fix }: SyntaxProblem): boolean {
      if (!fix || lines.size === 0) return true;
      const end = lineOf(fix.range.end);
      for (let line = lineOf(fix.range.start); line <= end; line++) if (lines.has(line)) return false;
      return true;
    },
  };
}

/** Whether a fix adds or removes one double quote, or changes text that has one. */
function changesQuote(text: string, { range: { start, end }, newText }: Edit): boolean {
  const old = text.slice(start, end);
  return newText === '"' || old === '"' || (newText !== '' && old.includes('"'));
}

/** Skips and reports text before the document, such as `module.exports =` or a Markdown fence. */
function skipTextBefore(scanner: Scanner): void {
  const { text } = scanner;
  const start = scanner.at;
  if (start >= text.length) return;
  const code = text.charCodeAt(start);
  if (code === openBrace || code === openBracket || (opensString(code) && !text.startsWith('```', start))) return;
  const word = text.slice(start, endOfWord(text, start));
  const rest = text.slice(endOfWord(text, start)).trim();
  if (rest === '' && /^(?:true|false|null|-?\d[\d.eE+-]*)$/.test(word)) return;
  const brace = text.indexOf('{', start);
  const end = brace === -1 ? text.length : brace;
  scanner.at = end;
  scanner.lastEnd = end;
  const range = { start, end: start + text.slice(start, end).trimEnd().length };
  scanner.report({
    range,
    message:
      brace === -1
        ? `The file contains no JSON, only ${quoteText(text, range)}.`
        : `There is text before the document: ${quoteText(text, range)}.`,
    suggestion:
      brace === -1
        ? 'Write the configuration as one JSON object, between { and }.'
        : 'Remove it: the file must contain one JSON object and nothing else.',
  });
}

/** Reports text after the document. */
function reportTextAfter(parser: ParserState): void {
  const { scanner, root } = parser;
  const { text } = scanner;
  while (scanner.at < text.length) {
    const start = scanner.at;
    const mark = text[start];
    if (mark === ',' || mark === ';') {
      scanner.at++;
      if (/\S/.test(text.slice(scanner.at, scanner.at + 100))) skipTrivia(scanner, 'nothing');
      if (scanner.at < text.length && scanner.at > start + 1) continue;
      scanner.report(
        createRemoval(
          { start, end: start + 1 },
          `${mark === ',' ? 'A comma' : 'A semicolon'} follows the document.`,
          'Remove it.',
        ),
      );
      skipTrivia(scanner, 'nothing');
      continue;
    }
    const range = { start, end: start + text.slice(start).trimEnd().length };
    if (root?.kind === 'object' || root?.kind === 'array') root.damaged = true;
    scanner.report({
      range,
      message: `The document ends before ${quoteText(text, range)}.`,
      suggestion: 'Remove what follows, or the closing bracket too many before it.',
    });
    return;
  }
}

/** Reports a text that is only whitespace. */
function reportEmpty(scanner: Scanner): void {
  const range = { start: 0, end: scanner.text.length };
  scanner.report({ range, message: 'The file is empty.', suggestion: 'Write an object with at least "name" and "navigation".' });
}
