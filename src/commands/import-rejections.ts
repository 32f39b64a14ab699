import type { RejectedLine } from '../user-groups/import-lines.ts';
import { importLimits } from '../user-groups/import-lines.ts';
import { thousands } from './output.ts';
import type { FileDraft } from './replace-file.ts';

const { maxPrintedRejections, maxCountedReasons } = importLimits;

/** A file that gets all rejected lines, which have names out of the imported file. */
export interface Report {
  readonly path: string;
  readonly draft: FileDraft;
}

/** What becomes of the lines that an import rejects. */
export interface Rejections {
  /** Takes lines, in order. Resolves when the report has them. Never rejects. */
  add(lines: readonly RejectedLine[]): Promise<void>;
  /** Prints how many lines were rejected for which reason, if not all are printed, and writes the report; false if it cannot. */
  close(): Promise<boolean>;
}

/**
 * Prints the first rejected lines, counts all by their reason, and writes all to the report, if there is one: a JSON object a
 * line with `line` and `reason`. Memory is bounded. A file that exists is replaced when the report is complete.
 *
 * @param print prints a line.
 */
export function collectRejections(print: (line: string) => void, report: Report | undefined): Rejections {
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
      if (!report) return;
      const text = lines.map(({ line, reason }) => `${JSON.stringify({ line, reason })}\n`).join('');
      // A failure is reported at the end.
      await new Promise<void>((resolve) => report.draft.stream.write(text, () => resolve()));
    },
    async close() {
      if (count > maxPrintedRejections) {
        const others = report ? '' : '; --report FILE writes all of them';
        print(
          `${thousands(count)} lines were rejected, of which the first ${maxPrintedRejections} are listed${others}. By reason:`,
        );
        const sorted = [...counts].sort(([, a], [, b]) => b - a);
        for (const [kind, each] of sorted) print(`${thousands(each).padStart(11)}  ${kind}`);
      }
      return report === undefined || publish(report, `${thousands(count)} rejected ${count === 1 ? 'line' : 'lines'}`);
    },
  };

  async function publish({ path, draft }: Report, what: string): Promise<boolean> {
    try {
      await draft.publish();
      print(`Wrote ${what} to ${path}.`);
      return true;
    } catch (error) {
      print(`${path} cannot be written: ${(error as Error).message}. The report is lost; the import is not affected.`);
      return false;
    }
  }
}
