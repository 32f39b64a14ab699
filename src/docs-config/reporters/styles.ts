import { styleText } from 'node:util';

/** How a terminal shows emphasis; without color the text is returned as it is. */
export interface Paint {
  readonly red: (text: string) => string;
  readonly yellow: (text: string) => string;
  readonly green: (text: string) => string;
  readonly cyan: (text: string) => string;
  readonly bold: (text: string) => string;
  readonly dim: (text: string) => string;
}

/** Emphasis with color, or none at all. Whether there is to be color was decided before: the stream is not asked. */
export function paintWith(color: boolean): Paint {
  const style = (format: keyof Paint) => (text: string) => (color ? styleText(format, text, { validateStream: false }) : text);
  return {
    red: style('red'),
    yellow: style('yellow'),
    green: style('green'),
    cyan: style('cyan'),
    bold: style('bold'),
    dim: style('dim'),
  };
}
