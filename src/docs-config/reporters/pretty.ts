import type { Finding } from '../diagnostics.ts';
import { explainCommand } from '../explain.ts';
import { renderFixes } from './applied-fixes.ts';
import type { CheckedFile } from './checked-file.ts';
import { codeFrame, printable } from './code-frame.ts';
import { type Paint, paintWith } from './styles.ts';

/** For people: what was fixed; each finding with its place, the lines around it and what to do; a summary of one line. */
export function renderPretty(checked: readonly CheckedFile[], color: boolean): string {
  const paint = paintWith(color);
  const blocks = checked.flatMap(({ file, source, report }) => {
    const frame = codeFrame(source);
    return report.diagnostics.map((finding) => block(file, finding, frame, paint));
  });
  return `${renderFixes(checked, color)}${blocks.join('\n')}${blocks.length > 0 ? '\n' : ''}${summary(checked, paint)}\n`;
}

function block(file: string, finding: Finding, frame: ReturnType<typeof codeFrame>, paint: Paint): string {
  const { code, severity, message, pointer, range, suggestion, fix } = finding;
  const strong = severity === 'error' ? paint.red : paint.yellow;
  const place = printable(`${file === '-' ? 'standard input' : file}:${range.start.line}:${range.start.column}`);
  const lines = [
    `${paint.bold(place)} ${strong(severity)} ${paint.bold(code)}${pointer ? ` ${paint.dim(printable(pointer))}` : ''}`,
    `  ${printable(message)}`,
    '',
    ...frame(range, { mark: strong, gutter: paint.dim }).map((line) => `  ${line}`),
    '',
  ];
  if (suggestion)
    lines.push(
      `  ${paint.cyan('→')} ${printable(suggestion)}${fix && severity === 'error' ? paint.dim(' (--fix does it)') : ''}`,
    );
  lines.push(`  ${paint.dim(`  see ${explainCommand(code)}`)}`);
  return `${lines.join('\n')}\n`;
}

function summary(checked: readonly CheckedFile[], paint: Paint): string {
  const errors = sum(checked, ({ report }) => report.errorCount);
  const warnings = sum(checked, ({ report }) => report.warningCount);
  const fixable = sum(
    checked,
    ({ report }) => report.diagnostics.filter(({ severity, fix }) => severity === 'error' && fix).length,
  );
  const files = count(checked.length, 'file');
  if (errors + warnings === 0) return `${files} checked: no problems.`;
  const found = [errors > 0 && paint.red(count(errors, 'error')), warnings > 0 && paint.yellow(count(warnings, 'warning'))];
  const hint = fixable > 0 ? `; --fix corrects ${fixable === errors ? (errors === 1 ? 'it' : 'all errors') : fixable}` : '';
  return `${files} checked: ${found.filter(Boolean).join(', ')}${hint}.`;
}

function sum(checked: readonly CheckedFile[], value: (file: CheckedFile) => number): number {
  return checked.reduce((total, file) => total + value(file), 0);
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
