import { maxDepth } from './read-json.ts';

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
  let isTooDeep = false;
  function visit(item: unknown, depth: number): void {
    isTooDeep ||= depth > maxDepth;
    total += 2 * depth;
    if (isTooDeep || typeof item !== 'object' || item === null) return;
    if (Array.isArray(item)) for (const part of item) visit(part, depth + 1);
    else for (const key in item) visit((item as Record<string, unknown>)[key], depth + 1);
  }
  visit(value, 0);
  return isTooDeep ? undefined : total;
}
