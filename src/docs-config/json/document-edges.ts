import { createRemoval, type ParserState, type Scanner } from './parser-state.ts';
import { opensString } from './scan-string.ts';
import { skipTrivia } from './scan-trivia.ts';
import { endOfWord } from './scan-word.ts';
import { openBrace, openBracket, quoteText } from './source-text.ts';

/** Skips and reports text before the document, such as `module.exports =` or a Markdown fence. */
export function skipTextBefore(scanner: Scanner): void {
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
export function reportTextAfter(parser: ParserState): void {
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
export function reportEmpty(scanner: Scanner): void {
  const range = { start: 0, end: scanner.text.length };
  scanner.report({ range, message: 'The file is empty.', suggestion: 'Write an object with at least "name" and "navigation".' });
}
