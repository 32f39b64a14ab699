import type { CheckedFile } from './checked-file.ts';
import { escapeControls } from './code-frame.ts';
import { createStyles, type Styles } from './styles.ts';

/** The maximum number of fixes listed per file. */
const maxListed = 1000;

/** Renders the applied fixes of each file: position in the original text, code and message. Empty when there are none. */
export function renderFixes(checked: readonly CheckedFile[], color: boolean): string {
  const styles = createStyles(color);
  return checked.map((file) => renderFile(file, styles)).join('');
}

function renderFile({ file, fixes = [] }: CheckedFile, styles: Styles): string {
  if (fixes.length === 0) return '';
  const lines = fixes
    .slice(0, maxListed)
    .map(
      ({ code, message, range: { start } }) => `  ${start.line}:${start.column} ${styles.bold(code)} ${escapeControls(message)}`,
    );
  if (fixes.length > maxListed) lines.push(`  and ${fixes.length - maxListed} more`);
  const head = `${styles.bold(escapeControls(file))}: ${styles.green(`fixed ${fixes.length}`)}`;
  return `${[head, ...lines].join('\n')}\n\n`;
}
