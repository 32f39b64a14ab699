import { maxDepth } from './parser-state.ts';

/** The maximum number of indentation characters. The indentation of a deep value can be 400 times as long as the value. */
const maxIndentCharacters = 2_000_000;

/**
 * Prints a JSON value like `JSON.stringify(value, null, 2)`; without indentation when that alone would take more than 2,000,000
 * characters. A value deeper than the parser accepts is replaced by brackets nested as deep.
 *
 * @throws TypeError for a bigint, which JSON does not have.
 */
export function printValue(value: unknown): string {
  const indents = countIndentCharacters(value);
  // Printing it would overflow the stack; brackets in its place lead to the same diagnostic.
  if (indents === undefined) return `${'['.repeat(maxDepth + 1)}${']'.repeat(maxDepth + 1)}`;
  // `undefined` and functions have no text, whatever the type says.
  const printed: string | undefined = JSON.stringify(value, null, indents > maxIndentCharacters ? 0 : 2);
  return printed === undefined ? 'null' : printed;
}

/** The number of indentation characters of a value; undefined when it is deeper than the parser accepts. */
function countIndentCharacters(value: unknown): number | undefined {
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
