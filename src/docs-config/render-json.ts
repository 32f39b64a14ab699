import type { CheckedFile } from './checked-file.ts';

/** One JSON object on one line: the files in the order given, each with its findings. */
export function renderJson(checked: readonly CheckedFile[]): string {
  const files = checked.map(({ file, report }) => ({
    file,
    valid: report.valid,
    diagnostics: report.diagnostics.map(({ code, severity, pointer, message, range, suggestion, fix, url }) => {
      return { code, severity, pointer, message, range, suggestion, fix, url };
    }),
  }));
  return `${JSON.stringify({ files })}\n`;
}
