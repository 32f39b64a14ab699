import { styleText } from 'node:util';
import type { FixedText } from '../apply-fixes.ts';
import type { Report } from '../validate.ts';

/** A file with its report: the input of every reporter. */
export interface CheckedFile {
  /** The path as the user wrote it; `-` for standard input. */
  readonly file: string;
  readonly source: string;
  readonly report: Report;
  /** The fixes applied before the check; missing when fixing was not requested. */
  readonly fixed?: Pick<FixedText, 'fixes' | 'fixCount'>;
}

/** Functions that style text for a terminal. */
export interface Styles {
  readonly red: (text: string) => string;
  readonly yellow: (text: string) => string;
  readonly green: (text: string) => string;
  readonly cyan: (text: string) => string;
  readonly bold: (text: string) => string;
  readonly dim: (text: string) => string;
}

/** Creates styles; without color they return the text unchanged. The caller decides about color, not the stream. */
export function createStyles(color: boolean): Styles {
  const style = (format: keyof Styles) => (text: string) => (color ? styleText(format, text, { validateStream: false }) : text);
  return {
    red: style('red'),
    yellow: style('yellow'),
    green: style('green'),
    cyan: style('cyan'),
    bold: style('bold'),
    dim: style('dim'),
  };
}
