import { maxDepth } from './parse-json.ts';

/** The most characters of indents that are printed. The indents of deep values can be 400 times as long as the values. */
const maxIndentCharacters = 2_000_000;

/**
 * The text of a JSON value, as `JSON.stringify(value, null, 2)` prints it. Without indents when these alone would take more than
 * 2,000,000 characters. A value deeper than the reader reads is replaced by brackets that are as deep.
 *
 * @throws TypeError for what JSON has not: a bigint.
 */
export function printValue(value: unknown): string {
  const indents = indentCharacters(value);
  // Printing it would overflow the stack: brackets in its place lead to the same finding.
  if (indents === undefined) return `${'['.repeat(maxDepth + 1)}${']'.repeat(maxDepth + 1)}`;
  // `undefined` and functions have no text, whatever the type says.
  const printed: string | undefined = JSON.stringify(value, null, indents > maxIndentCharacters ? 0 : 2);
  return printed === undefined ? 'null' : printed;
}

/** How many characters the indents of a value take; undefined when it is deeper than the reader reads. */
function indentCharacters(value: unknown): number | undefined {
  let total = 0;
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > maxDepth) return undefined;
    total += 2 * depth * level.length;
    level = level.flatMap((item) => (typeof item === 'object' && item !== null ? Object.values(item) : []));
  }
  return total;
}
