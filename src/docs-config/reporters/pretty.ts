import { styleText } from 'node:util';
import { escapeControls } from '../../terminal-text.ts';
import type { FixedText } from '../apply-fixes.ts';
import type { Diagnostic } from '../collect-diagnostics.ts';
import { findLineStarts, type Range } from '../json/source-text.ts';
import { type Code, rules } from '../rules/registry.ts';
import { type Rule, shortenExample } from '../rules/rule.ts';
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

/** Styles a text for a terminal. */
type Style = (format: 'red' | 'yellow' | 'green' | 'cyan' | 'bold' | 'dim', text: string) => string;

/** Without color, the text stays as it is. The caller decides about color, not the stream. */
const styleWith =
  (color: boolean): Style =>
  (format, text) =>
    color ? styleText(format, text, { validateStream: false }) : text;

/** Renders the applied fixes of each file: position in the original text, code and message. Empty when there are none. */
export function renderFixes(checked: readonly CheckedFile[], color: boolean): string {
  const style = styleWith(color);
  return checked.map((file) => renderFile(file, style)).join('');
}

function renderFile({ file, fixed }: CheckedFile, style: Style): string {
  if (!fixed || fixed.fixCount === 0) return '';
  const { fixes, fixCount } = fixed;
  const lines = fixes.map(
    ({ code, message, range: { start } }) => `  ${start.line}:${start.column} ${style('bold', code)} ${escapeControls(message)}`,
  );
  if (fixCount > fixes.length) lines.push(`  and ${fixCount - fixes.length} more`);
  const head = `${style('bold', escapeControls(file))}: ${style('green', `fixed ${fixCount}`)}`;
  return `${[head, ...lines].join('\n')}\n\n`;
}

/**
 * Renders for people: the applied fixes, each diagnostic with its position, code frame and suggestion, and a one-line summary.
 */
export function renderPretty(checked: readonly CheckedFile[], color: boolean): string {
  const style = styleWith(color);
  const blocks = checked.flatMap(({ file, source, report }) => {
    const frame = createCodeFrames(source, style);
    return report.diagnostics.map((diagnostic) => renderDiagnostic(file, diagnostic, frame, style));
  });
  return `${renderFixes(checked, color)}${blocks.join('\n')}${blocks.length > 0 ? '\n' : ''}${renderSummary(checked, style)}\n`;
}

function renderDiagnostic(
  file: string,
  diagnostic: Diagnostic,
  frame: ReturnType<typeof createCodeFrames>,
  style: Style,
): string {
  const { code, severity, message, pointer, range, suggestion, fix } = diagnostic;
  const strong = strongOf(severity);
  const place = escapeControls(`${file === '-' ? 'standard input' : file}:${range.start.line}:${range.start.column}`);
  const where = pointer ? ` ${style('dim', escapeControls(pointer))}` : '';
  const hint = fix && severity === 'error' ? style('dim', ' (--fix does it)') : '';
  return `${[
    `${style('bold', place)} ${style(strong, severity)} ${style('bold', code)}${where}`,
    `  ${escapeControls(message)}`,
    '',
    ...frame(range, strong).map((line) => `  ${line}`),
    '',
    ...(suggestion ? [`  ${style('cyan', '→')} ${escapeControls(suggestion)}${hint}`] : []),
    `  ${style('dim', `  see docs-config explain ${code}`)}`,
  ].join('\n')}\n`;
}

const strongOf = (severity: Diagnostic['severity']) => (severity === 'error' ? 'red' : 'yellow');

function renderSummary(checked: readonly CheckedFile[], style: Style): string {
  const errors = sum(checked, ({ report }) => report.errorCount);
  const warnings = sum(checked, ({ report }) => report.warningCount);
  const fixable = sum(
    checked,
    ({ report }) => report.diagnostics.filter(({ severity, fix }) => severity === 'error' && fix).length,
  );
  const files = formatCount(checked.length, 'file');
  if (errors + warnings === 0) return `${files} checked: no problems.`;
  const found = [
    errors > 0 && style(strongOf('error'), formatCount(errors, 'error')),
    warnings > 0 && style(strongOf('warning'), formatCount(warnings, 'warning')),
  ];
  const hint = fixable > 0 ? `; --fix corrects ${fixable === errors ? (errors === 1 ? 'it' : 'all errors') : fixable}` : '';
  return `${files} checked: ${found.filter(Boolean).join(', ')}${hint}.`;
}

function sum(checked: readonly CheckedFile[], value: (file: CheckedFile) => number): number {
  return checked.reduce((total, file) => total + value(file), 0);
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
  let starts: Uint32Array | undefined;
  return ({ start, end }, strong) => {
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

function indent(text: string): string {
  return text
    .trimEnd()
    .split('\n')
    .map((line) => `  ${line}`)
    .join('\n');
}
