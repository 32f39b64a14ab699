import { escapeJson } from '../terminal-text.ts';

/** Prints a result: as JSON on one line, or as text. */
export function printResult(asJson: boolean | undefined, members: unknown, text: string): void {
  process.stdout.write(`${asJson ? escapeJson(JSON.stringify(members)) : text}\n`);
}

/** Shows on a terminal how far a command has come, in one line. An empty text removes the line. */
export function showProgress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001b[2K${text}`);
}

/** A number with separators. */
export const thousands = (count: number): string => count.toLocaleString('en-US');

/** A part of a whole, in percent. */
export const percent = (part: number, whole: number): string => (whole > 0 ? ` ${Math.floor((100 * part) / whole)} %` : '');

/** The times that there are, with what happened then. */
export const describeTimes = (times: Readonly<Record<string, Date | null>>): string[] =>
  Object.entries(times).flatMap(([what, when]) => (when ? [`${what} ${when.toISOString()}`] : []));
