import type { TextRange } from './syntax-tree.ts';

/** A position in the text. */
export interface Position {
  /** From 1. A line ends at \n, \r\n or a lone \r, as in editors. */
  readonly line: number;
  /** From 1, in UTF-16 code units. */
  readonly column: number;
  /** From 0, in UTF-16 code units. */
  readonly offset: number;
}

/** A range of the text; `end` is exclusive. */
export interface Range {
  readonly start: Position;
  readonly end: Position;
}

/** Converts offsets to lines and columns. */
export interface Positions {
  readonly at: (offset: number) => Position;
  readonly range: (range: TextRange) => Range;
}

/** Creates the converter for a text. The line table is built on first use, in linear time; each look-up is logarithmic. */
export function createPositions(text: string): Positions {
  let starts: Uint32Array | undefined;
  const at = (offset: number): Position => {
    starts ??= findLineStarts(text);
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((starts[middle] as number) <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: offset - (starts[low] as number) + 1, offset };
  };
  return { at, range: ({ start, end }) => ({ start: at(start), end: at(end) }) };
}

/** The offset of the start of each line. */
export function findLineStarts(text: string): Uint32Array {
  let count = 1;
  for (let at = 0; at < text.length; at++) if (endsLine(text, at)) count++;
  const starts = new Uint32Array(count);
  for (let at = 0, line = 1; line < count; at++) if (endsLine(text, at)) starts[line++] = at + 1;
  return starts;
}

function endsLine(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code === 10 || (code === 13 && text.charCodeAt(at + 1) !== 10);
}
