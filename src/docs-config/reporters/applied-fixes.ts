import type { CheckedFile } from './checked-file.ts';
import { printable } from './code-frame.ts';
import { type Paint, paintWith } from './styles.ts';

/** The most fixes that are listed for a file. */
const maxListed = 1000;

/** What was fixed in each file: place (in the file as it was), code and message. Empty when nothing was. */
export function renderFixes(checked: readonly CheckedFile[], color: boolean): string {
  const paint = paintWith(color);
  return checked.map((file) => fixesOf(file, paint)).join('');
}

function fixesOf({ file, fixes = [] }: CheckedFile, paint: Paint): string {
  if (fixes.length === 0) return '';
  const lines = fixes
    .slice(0, maxListed)
    .map(({ code, message, range: { start } }) => `  ${start.line}:${start.column} ${paint.bold(code)} ${printable(message)}`);
  if (fixes.length > maxListed) lines.push(`  and ${fixes.length - maxListed} more`);
  const head = `${paint.bold(printable(file))}: ${paint.green(`fixed ${fixes.length}`)}`;
  return `${[head, ...lines].join('\n')}\n\n`;
}
