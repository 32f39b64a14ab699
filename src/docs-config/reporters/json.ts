import { escapeJson } from '../../terminal-text.ts';
import type { CheckedFile } from './checked-file.ts';

/**
 * Renders one JSON object on one line: the files in order, each with its diagnostics and, after `--fix`, the first 1,000 of the
 * applied fixes and the number of all.
 */
export function renderJson(checked: readonly CheckedFile[]): string {
  const files = checked.map(({ file, report, fixed }) => ({
    file,
    valid: report.valid,
    diagnostics: report.diagnostics.map(({ code, severity, pointer, message, range, suggestion, fix }) => {
      return { code, severity, pointer, message, range, suggestion, fix };
    }),
    ...fixed,
  }));
  return `${escapeJson(JSON.stringify({ files }))}\n`;
}
