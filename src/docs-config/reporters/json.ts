import type { CheckedFile } from './checked-file.ts';

/** Renders one JSON object on one line: the files in order, each with its diagnostics and, after `--fix`, the applied fixes. */
export function renderJson(checked: readonly CheckedFile[]): string {
  const files = checked.map(({ file, report, fixes }) => ({
    file,
    valid: report.valid,
    diagnostics: report.diagnostics.map(({ code, severity, pointer, message, range, suggestion, fix }) => {
      return { code, severity, pointer, message, range, suggestion, fix };
    }),
    ...(fixes && { fixes }),
  }));
  return `${JSON.stringify({ files })}\n`;
}
