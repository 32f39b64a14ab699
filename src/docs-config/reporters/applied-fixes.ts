import { escapeControls } from '../../terminal-text.ts';
import type { CheckedFile } from './checked-file.ts';
import { createStyles, type Styles } from './styles.ts';

/** Renders the applied fixes of each file: position in the original text, code and message. Empty when there are none. */
export function renderFixes(checked: readonly CheckedFile[], color: boolean): string {
  const styles = createStyles(color);
  return checked.map((file) => renderFile(file, styles)).join('');
}

function renderFile({ file, fixed }: CheckedFile, styles: Styles): string {
  if (!fixed || fixed.fixCount === 0) return '';
  const { fixes, fixCount } = fixed;
  const lines = fixes.map(
    ({ code, message, range: { start } }) => `  ${start.line}:${start.column} ${styles.bold(code)} ${escapeControls(message)}`,
  );
  if (fixCount > fixes.length) lines.push(`  and ${fixCount - fixes.length} more`);
  const head = `${styles.bold(escapeControls(file))}: ${styles.green(`fixed ${fixCount}`)}`;
  return `${[head, ...lines].join('\n')}\n\n`;
}
