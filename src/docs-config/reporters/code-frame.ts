import { escapeControls } from '../../terminal-text.ts';
import { findLineStarts, type Range } from '../json/positions.ts';

/** The maximum number of characters shown of a line; of a longer line, the part around the range. */
const width = 100;
const linesBefore = 2;
const linesAfter = 1;

/** Emphasis for parts of a frame. */
interface FrameStyle {
  readonly mark: (text: string) => string;
  readonly gutter: (text: string) => string;
}

/** Creates a function that renders the lines around a range of the text, with the range underlined. */
export function createCodeFrames(source: string): (range: Range, style: FrameStyle) => string[] {
  let starts: Uint32Array | undefined;
  return ({ start, end }, style) => {
    starts ??= findLineStarts(source);
    const first = Math.max(1, start.line - linesBefore);
    const last = Math.min(starts.length, start.line + linesAfter);
    const digits = String(last).length;
    const from = Math.max(0, start.column - 1 - Math.floor(width / 2));
    const window = start.column - 1 < width - 20 ? 0 : from;
    const frame: string[] = [];
    for (let number = first; number <= last; number++) {
      const line = source.slice(starts[number - 1], endOfLine(source, starts, number));
      const shown = line.slice(window, window + width);
      const cut = `${window > 0 && line.length > 0 ? '…' : ''}${escapeControls(shown)}${line.length > window + width ? '…' : ''}`;
      const here = number === start.line;
      frame.push(`${here ? style.mark('>') : ' '} ${style.gutter(`${String(number).padStart(digits)} |`)} ${cut}`.trimEnd());
      if (!here) continue;
      const before = (window > 0 ? 1 : 0) + countCells(escapeControls(line.slice(window, start.column - 1)));
      const spanEnd = start.line === end.line ? end.column - 1 : line.length;
      const span = countCells(escapeControls(line.slice(start.column - 1, Math.min(spanEnd, window + width))));
      frame.push(
        `  ${style.gutter(`${' '.repeat(digits)} |`)} ${' '.repeat(before)}${style.mark('^'.repeat(Math.max(1, span)))}`,
      );
    }
    return frame;
  };
}

/** The offset of the break that ends a line, by its number from 1; of the last line, the end of the text. */
function endOfLine(source: string, starts: Uint32Array, number: number): number {
  const next = starts[number];
  if (next === undefined) return source.length;
  return source.startsWith('\r\n', next - 2) ? next - 2 : next - 1;
}

const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u;

/** The width of a text on a terminal, in cells: East Asian letters and emoji take two. */
function countCells(text: string): number {
  let total = 0;
  for (const character of text) total += /\p{M}/u.test(character) ? 0 : wide.test(character) ? 2 : 1;
  return total;
}
