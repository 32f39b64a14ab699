import { importLimits } from '../domain/import-limits.ts';
import type { RejectedLine } from '../domain/user-group-import-line.ts';
import { thousands } from './progress.ts';
import { type FileDraft, openDraft } from './replace-file.ts';

const { maxPrintedRejections, maxCountedReasons } = importLimits;

/** Only the owner may read a report: reasons have names out of the file. */
const reportMode = 0o600;

/** What becomes of the lines that an import rejects. */
export interface Rejections {
  /** Takes lines, in order. Resolves when the report has them. Never rejects. */
  add(lines: readonly RejectedLine[]): Promise<void>;
  /** Prints how many lines were rejected for which reason, if not all are printed, and writes the report; false if it cannot. */
  close(): Promise<boolean>;
}

/**
 * Prints the first rejected lines, counts all by their reason, and writes all to a file, if one is given: a JSON object a line
 * with `line` and `reason`. Memory is bounded. A file that exists is replaced when the report is complete.
 *
 * @param print prints a line.
 * @throws Error with a message for the operator when the file cannot be written.
 */
export async function openRejections(print: (line: string) => void, file: string | undefined): Promise<Rejections> {
  const draft = file === undefined ? undefined : await openReport(file);
  const counts = new Map<string, number>();
  let count = 0;
  return {
    async add(lines) {
      for (const { line, reason } of lines.slice(0, Math.max(0, maxPrintedRejections - count))) print(`line ${line}: ${reason}`);
      count += lines.length;
      for (const { kind } of lines) {
        const counted = counts.has(kind) || counts.size < maxCountedReasons ? kind : 'other reasons';
        counts.set(counted, (counts.get(counted) ?? 0) + 1);
      }
      const text = lines.map(({ line, reason }) => `${JSON.stringify({ line, reason })}\n`).join('');
      // A failure is reported at the end.
      await new Promise<void>((resolve) => (draft ? draft.stream.write(text, () => resolve()) : resolve()));
    },
    async close() {
      if (count > maxPrintedRejections) {
        const others = file === undefined ? '; --report FILE writes all of them' : '';
        print(
          `${thousands(count)} lines were rejected, of which the first ${maxPrintedRejections} are listed${others}. By reason:`,
        );
        const sorted = [...counts].sort(([, a], [, b]) => b - a);
        for (const [kind, each] of sorted) print(`${thousands(each).padStart(11)}  ${kind}`);
      }
      return draft === undefined || publish(draft, `${thousands(count)} rejected ${count === 1 ? 'line' : 'lines'}`);
    },
  };

  async function publish(report: FileDraft, what: string): Promise<boolean> {
    try {
      await report.publish();
      print(`Wrote ${what} to ${file}.`);
      return true;
    } catch (error) {
      await report.discard();
      print(`${file} cannot be written: ${(error as Error).message}. The report is lost; the import is not affected.`);
      return false;
    }
  }
}

async function openReport(file: string): Promise<FileDraft> {
  try {
    return await openDraft(file, reportMode);
  } catch (error) {
    const remedy = 'Choose a folder that exists and is writable.';
    throw new Error(`${file} cannot be written: ${(error as Error).message}. Nothing was imported. ${remedy}`);
  }
}
