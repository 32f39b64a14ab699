import { createScanner } from 'jsonc-parser';
import type { TextRange } from './positions.ts';
import { describeSyntaxError, type Reason } from './syntax-error.ts';

/** The maximum depth of a document. */
const maxDepth = 200;

/** The JSON types. */
export type Kind = 'object' | 'array' | 'string' | 'number' | 'boolean' | 'null';

/** What is wrong with a text, in a sentence with what to do. */
export interface Problem {
  readonly code: 'json-syntax' | 'too-deep';
  readonly range: TextRange;
  readonly message: string;
}

/** Is called for each part of a document, in order. Only a string has a value. */
export interface JsonReader {
  readonly begin: (kind: 'object' | 'array', start: number) => void;
  readonly end: (end: number) => void;
  readonly key: (key: string, start: number, end: number) => void;
  readonly scalar: (kind: Kind, value: string | undefined, start: number, end: number) => void;
}

/** The JSON types by the number of a token of jsonc-parser, and what is wrong with a token by the number of its error. */
const kinds: Readonly<Record<number, Kind>> = { 7: 'null', 8: 'boolean', 9: 'boolean', 10: 'string', 11: 'number' };
const reasons: readonly (Reason | undefined)[] = [undefined, 'comment', 'open-string', 'number', 'unicode', 'escape', 'control'];
const tokenReasons: Readonly<Record<number, Reason>> = { 12: 'comment', 13: 'comment', 16: 'symbol' };

/** Reads a JSON text in linear time. Stops at the first problem and returns it: what follows would be a guess. */
export function readJson(text: string, reader: JsonReader): Problem | undefined {
  const scanner = createScanner(text);
  /** The brackets that would close what is open. */
  const closers: string[] = [];
  let expected: Reason = 'value';
  let isEmpty = false;
  for (let start = 0, end = 0; ; start = end) {
    while (isSpace(text.charCodeAt(start))) start++;
    const mark = text[start];
    end = start + 1;
    if (mark === undefined && expected === 'end') return undefined;
    if (expected === 'value' && (mark === '{' || mark === '[')) {
      if (closers.length === maxDepth) {
        const message = `The document is nested deeper than ${maxDepth} levels. Look for brackets that are never closed.`;
        return { code: 'too-deep', range: { start, end }, message };
      }
      closers.push(mark === '{' ? '}' : ']');
      reader.begin(mark === '{' ? 'object' : 'array', start);
      expected = mark === '{' ? 'key' : 'value';
      isEmpty = true;
      continue;
    }
    if (expected === 'comma' && mark === ',') {
      expected = closers.at(-1) === '}' ? 'key' : 'value';
      continue;
    }
    if (expected === 'colon' && mark === ':') {
      expected = 'value';
      continue;
    }
    if ((isEmpty || expected === 'comma') && mark !== undefined && mark === closers.at(-1)) {
      closers.pop();
      reader.end(end);
    } else {
      scanner.setPosition(start);
      const token = scanner.scan();
      const error = reasons[scanner.getTokenError()];
      const kind = error ? undefined : kinds[token];
      end = scanner.getPosition();
      if (expected === 'key' && kind === 'string') {
        reader.key(scanner.getTokenValue(), start, end);
        expected = 'colon';
        isEmpty = false;
        continue;
      }
      if (expected !== 'value' || !kind) {
        const reason = error ?? tokenReasons[token] ?? expected;
        return { code: 'json-syntax', ...describeSyntaxError(text, reason, { start, end }, closers) };
      }
      reader.scalar(kind, kind === 'string' ? scanner.getTokenValue() : undefined, start, end);
    }
    expected = closers.length > 0 ? 'comma' : 'end';
    isEmpty = false;
  }
}

const isSpace = (code: number): boolean => code === 32 || code === 10 || code === 13 || code === 9;
