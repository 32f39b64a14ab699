import { type ParseErrorCode, visit } from 'jsonc-parser';
import type { TextRange } from './positions.ts';
import { describeSyntaxError } from './syntax-error.ts';

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

/** Is called for each part of a document, in order. */
export interface JsonReader {
  readonly begin: (kind: 'object' | 'array', start: number) => void;
  readonly end: (end: number) => void;
  readonly key: (key: string, start: number, end: number) => void;
  readonly scalar: (kind: Kind, value: unknown, start: number, end: number) => void;
}

/** Thrown at the first problem: jsonc-parser would go on behind it. */
const stopped = new Error('Stopped at the first problem.');

/** Reads a JSON text in linear time. Stops at the first problem and returns it: what follows would be a guess. */
export function readJson(text: string, reader: JsonReader): Problem | undefined {
  let problem: Problem | undefined;
  /** The brackets that would close what is open. */
  const closers: string[] = [];

  const stop = (found: Problem): never => {
    problem = found;
    throw stopped;
  };
  const begin = (kind: 'object' | 'array', start: number): void => {
    if (closers.length === maxDepth) {
      const message = `The document is nested deeper than ${maxDepth} levels. Look for brackets that are never closed.`;
      stop({ code: 'too-deep', range: { start, end: start + 1 }, message });
    }
    closers.push(kind === 'object' ? '}' : ']');
    reader.begin(kind, start);
  };
  const end = (start: number, length: number): void => {
    if (length === 0) return; // at the end of the text, which leaves it open
    closers.pop();
    reader.end(start + length);
  };
  try {
    visit(
      text,
      {
        onObjectBegin: (start) => begin('object', start),
        onArrayBegin: (start) => begin('array', start),
        onObjectEnd: end,
        onArrayEnd: end,
        onObjectProperty: (key, start, length) => reader.key(key, start, start + length),
        onLiteralValue: (value: unknown, start, length) =>
          reader.scalar(value === null ? 'null' : (typeof value as Kind), value, start, start + length),
        onError: (code: ParseErrorCode, start, length) =>
          stop({ code: 'json-syntax', ...describeSyntaxError(text, code, { start, end: start + length }, closers) }),
      },
      { disallowComments: true },
    );
  } catch (error) {
    if (!problem) throw error;
  }
  return problem;
}
