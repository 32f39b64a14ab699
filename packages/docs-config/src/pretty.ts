import { styleText } from 'node:util';
import { Positions, type Range } from './positions.ts';
import { type Code, rules } from './rules/registry.ts';
import { type Rule, shortenExample } from './rules/rule.ts';
import type { Diagnostic, Report } from './validate.ts';
import { escapeControls } from './words.ts';

/** A file with its report: the input of every reporter. */
export interface CheckedFile {
  /** The path as the user wrote it; `-` for standard input. */
  readonly file: string;
  readonly report: Report;
}

/** Styles a text for a terminal. */
type Style = (format: 'red' | 'yellow' | 'cyan' | 'bold' | 'dim', text: string) => string;

/** Renders for people: each diagnostic with its position, code frame and suggestion, and a one-line summary. */
export function renderPretty(checked: readonly CheckedFile[], stream?: NodeJS.WritableStream): string {
  if (checked.length === 0) return '';
  // Node.js knows whether the stream is a terminal, and what NO_COLOR and FORCE_COLOR say.
  const style: Style = (format, text) => (stream ? styleText(format, text, { stream }) : text);
  const blocks = checked.flatMap(({ file, report }) => {
    const frame = createCodeFrames(report.text, style);
    return report.diagnostics.map((diagnostic) => renderDiagnostic(file, diagnostic, frame, style));
  });
  return `${blocks.join('\n')}${blocks.length > 0 ? '\n' : ''}${renderSummary(checked, style)}\n`;
}

function renderDiagnostic(
  file: string,
  diagnostic: Diagnostic,
  frame: ReturnType<typeof createCodeFrames>,
  style: Style,
): string {
  const { code, severity, message, pointer, range, suggestion } = diagnostic;
  const strong = strongOf(severity);
  const place = escapeControls(`${file === '-' ? 'standard input' : file}:${range.start.line}:${range.start.column}`);
  const where = pointer ? ` ${style('dim', escapeControls(pointer))}` : '';
  return `${[
    `${style('bold', place)} ${style(strong, severity)} ${style('bold', code)}${where}`,
    `  ${escapeControls(message)}`,
    '',
    ...frame(range, strong).map((line) => `  ${line}`),
    '',
    ...(suggestion ? [`  ${style('cyan', '→')} ${escapeControls(suggestion)}`] : []),
    `  ${style('dim', `  see docs-config explain ${code}`)}`,
  ].join('\n')}\n`;
}

const strongOf = (severity: Diagnostic['severity']) => (severity === 'error' ? 'red' : 'yellow');

function renderSummary(checked: readonly CheckedFile[], style: Style): string {
  const sum = (key: 'errorCount' | 'warningCount') => checked.reduce((total, { report }) => total + report[key], 0);
  const [errors, warnings] = [sum('errorCount'), sum('warningCount')];
  const files = formatCount(checked.length, 'file');
  if (errors + warnings === 0) return `${files} checked: no problems.`;
  const found = [
    errors > 0 && style(strongOf('error'), formatCount(errors, 'error')),
    warnings > 0 && style(strongOf('warning'), formatCount(warnings, 'warning')),
  ];
  return `${files} checked: ${found.filter(Boolean).join(', ')}.`;
}

function formatCount(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

/** The maximum number of characters shown of a line; of a longer line, the part around the range. */
const width = 100;
const linesBefore = 2;
const linesAfter = 1;

/** Creates a function that renders the lines around a range of the text, with the range underlined. */
function createCodeFrames(source: string, style: Style): (range: Range, strong: 'red' | 'yellow') => string[] {
  const { lineStarts: starts } = new Positions(source);
  return ({ start, end }, strong) => {
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
      frame.push(`${here ? style(strong, '>') : ' '} ${style('dim', `${String(number).padStart(digits)} |`)} ${cut}`.trimEnd());
      if (!here) continue;
      const before = (window > 0 ? 1 : 0) + countCells(escapeControls(line.slice(window, start.column - 1)));
      const spanEnd = start.line === end.line ? end.column - 1 : line.length;
      const span = countCells(escapeControls(line.slice(start.column - 1, Math.min(spanEnd, window + width))));
      const mark = style(strong, '^'.repeat(Math.max(1, span)));
      frame.push(`  ${style('dim', `${' '.repeat(digits)} |`)} ${' '.repeat(before)}${mark}`);
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

/** Explains a code as text: its default severity, its meaning, and a wrong and a correct example. */
export function explain(code: Code): string {
  const { title, explanation, severity, wrong, right, files }: Rule = rules[code];
  const around = files ? `In a site with the files ${files.join(', ')}:\n\n` : '';
  return `${code}: ${title}

By default ${severity === 'error' ? 'an error' : 'a warning'}.
${explanation}

${around}Wrong:

${indent(shortenExample(wrong))}

Correct:

${indent(right)}

Switch it off: docs-config check --severity ${code}=off
`;
}

const indent = (text: string): string => text.trimEnd().replace(/^/gm, '  ');
