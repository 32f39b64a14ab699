import { escapeControls } from '../../terminal-text.ts';
import type { Diagnostic } from '../diagnostic.ts';
import type { CheckedFile } from './checked-file.ts';

/** Renders workflow commands of GitHub Actions, one per diagnostic, which annotate the changed lines of a pull request. */
export function renderGithub(checked: readonly CheckedFile[]): string {
  return checked
    .flatMap(({ file, report }) => report.diagnostics.map((diagnostic) => renderAnnotation(file, diagnostic)))
    .join('');
}

function renderAnnotation(file: string, { code, severity, message, suggestion, range }: Diagnostic): string {
  const { start, end } = range;
  const properties: [string, string | number][] = [
    ['file', file],
    ['line', start.line],
    ['endLine', end.line],
  ];
  // GitHub accepts columns only when the range is on one line.
  if (start.line === end.line) properties.push(['col', start.column], ['endColumn', end.column]);
  properties.push(['title', `docs-config ${code}`]);
  const list = properties.map(([name, value]) => `${name}=${escapeProperty(String(value))}`).join(',');
  return `::${severity} ${list}::${escapeData(suggestion ? `${message} ${suggestion}` : message)}\n`;
}

function escapeData(text: string): string {
  return escapeControls(text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A'));
}

function escapeProperty(text: string): string {
  return escapeData(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}
