import { escapeControls } from '../../terminal-text.ts';
import type { Diagnostic } from '../diagnostic.ts';
import { explainCommand } from '../explain.ts';
import { type CheckedFile, createStyles, type Styles } from './checked-file.ts';
import { createCodeFrames } from './code-frame.ts';

/** Renders the applied fixes of each file: position in the original text, code and message. Empty when there are none. */
export function renderFixes(checked: readonly CheckedFile[], color: boolean): string {
  const styles = createStyles(color);
  return checked.map((file) => renderFile(file, styles)).join('');
}

function renderFile({ file, fixed }: CheckedFile, styles: Styles): string {
  if (!fixed || fixed.fixCount === 0) return '';
  const { fixes, fixCount } = fixed;
  const lines = fixes.map(
    ({ code, message, range: { start } }) => `  ${start.line}:${start.column} ${styles.bold(code)} ${escapeControls(message)}`,
  );
  if (fixCount > fixes.length) lines.push(`  and ${fixCount - fixes.length} more`);
  const head = `${styles.bold(escapeControls(file))}: ${styles.green(`fixed ${fixCount}`)}`;
  return `${[head, ...lines].join('\n')}\n\n`;
}

/**
 * Renders for people: the applied fixes, each diagnostic with its position, code frame and suggestion, and a one-line summary.
 */
export function renderPretty(checked: readonly CheckedFile[], color: boolean): string {
  const styles = createStyles(color);
  const blocks = checked.flatMap(({ file, source, report }) => {
    const frame = createCodeFrames(source);
    return report.diagnostics.map((diagnostic) => renderDiagnostic(file, diagnostic, frame, styles));
  });
  return `${renderFixes(checked, color)}${blocks.join('\n')}${blocks.length > 0 ? '\n' : ''}${renderSummary(checked, styles)}\n`;
}

function renderDiagnostic(
  file: string,
  diagnostic: Diagnostic,
  frame: ReturnType<typeof createCodeFrames>,
  styles: Styles,
): string {
  const { code, severity, message, pointer, range, suggestion, fix } = diagnostic;
  const strong = severity === 'error' ? styles.red : styles.yellow;
  const place = escapeControls(`${file === '-' ? 'standard input' : file}:${range.start.line}:${range.start.column}`);
  const lines = [
    `${styles.bold(place)} ${strong(severity)} ${styles.bold(code)}${pointer ? ` ${styles.dim(escapeControls(pointer))}` : ''}`,
    `  ${escapeControls(message)}`,
    '',
    ...frame(range, { mark: strong, gutter: styles.dim }).map((line) => `  ${line}`),
    '',
  ];
  if (suggestion)
    lines.push(
      `  ${styles.cyan('→')} ${escapeControls(suggestion)}${fix && severity === 'error' ? styles.dim(' (--fix does it)') : ''}`,
    );
  lines.push(`  ${styles.dim(`  see ${explainCommand(code)}`)}`);
  return `${lines.join('\n')}\n`;
}

function renderSummary(checked: readonly CheckedFile[], styles: Styles): string {
  const errors = sum(checked, ({ report }) => report.errorCount);
  const warnings = sum(checked, ({ report }) => report.warningCount);
  const fixable = sum(
    checked,
    ({ report }) => report.diagnostics.filter(({ severity, fix }) => severity === 'error' && fix).length,
  );
  const files = formatCount(checked.length, 'file');
  if (errors + warnings === 0) return `${files} checked: no problems.`;
  const found = [
    errors > 0 && styles.red(formatCount(errors, 'error')),
    warnings > 0 && styles.yellow(formatCount(warnings, 'warning')),
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
