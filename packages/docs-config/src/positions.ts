/** A range of offsets in the text; `end` is exclusive. */
export interface TextRange {
  readonly start: number;
  readonly end: number;
}

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

/** Converts offsets to lines and columns. The lines are found on first use. */
export class Positions {
  private readonly text: string;
  private starts: Uint32Array | undefined;

  constructor(text: string) {
    this.text = text;
  }

  /** The offset of the start of each line. */
  get lineStarts(): Uint32Array {
    this.starts ??= findLineStarts(this.text);
    return this.starts;
  }

  at(offset: number): Position {
    const starts = this.lineStarts;
    let [low, high] = [0, starts.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((starts[middle] as number) <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: offset - (starts[low] as number) + 1, offset };
  }

  range({ start, end }: TextRange): Range {
    return { start: this.at(start), end: this.at(end) };
  }
}

function findLineStarts(text: string): Uint32Array {
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
