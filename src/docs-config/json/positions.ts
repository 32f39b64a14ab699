import type { TextRange } from './syntax-tree.ts';

/** A place in the text. */
export interface Position {
  /** From 1. A line ends at \n, \r\n or a lone \r, as in editors. */
  readonly line: number;
  /** From 1, in UTF-16 code units. */
  readonly column: number;
  /** From 0, in UTF-16 code units. */
  readonly offset: number;
}

/** A piece of the text; `end` is the place right behind it. */
export interface Range {
  readonly start: Position;
  readonly end: Position;
}

/** Turns offsets into lines and columns. The table of lines is made when the first one is asked for. */
export interface Positions {
  readonly at: (offset: number) => Position;
  readonly range: (range: TextRange) => Range;
}

/** The positions of a text. Making the table is linear, each look-up logarithmic. */
export function positionsOf(text: string): Positions {
  let starts: number[] | undefined;
  const at = (offset: number): Position => {
    starts ??= lineStarts(text);
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

function lineStarts(text: string): number[] {
  const starts = [0];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 10 || (code === 13 && text.charCodeAt(at + 1) !== 10)) starts.push(at + 1);
  }
  return starts;
}
