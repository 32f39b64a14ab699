import type { Finding } from '../diagnostics.ts';
import type { CheckedFile } from './checked-file.ts';

/** Workflow commands of GitHub Actions, one a finding: they become annotations on the changed lines of a pull request. */
export function renderGithub(checked: readonly CheckedFile[]): string {
  return checked.flatMap(({ file, report }) => report.diagnostics.map((finding) => annotation(file, finding))).join('');
}

function annotation(file: string, { code, severity, message, suggestion, range }: Finding): string {
  const { start, end } = range;
  const properties: [string, string | number][] = [
    ['file', file],
    ['line', start.line],
    ['endLine', end.line],
  ];
  // Columns mean something to GitHub only where the lines are one and the same.
  if (start.line === end.line) properties.push(['col', start.column], ['endColumn', end.column]);
  properties.push(['title', `docs-config ${code}`]);
  const list = properties.map(([name, value]) => `${name}=${escapeProperty(String(value))}`).join(',');
  return `::${severity} ${list}::${escapeData(suggestion ? `${message} ${suggestion}` : message)}\n`;
}

function escapeData(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function escapeProperty(text: string): string {
  return escapeData(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}
