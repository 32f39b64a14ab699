import type { CheckedFile } from './checked-file.ts';

/** One JSON object on one line: the files in the order given, each with its findings and, after `--fix`, what was fixed. */
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
