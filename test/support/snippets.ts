import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** A fenced code block of a page. */
export interface Snippet {
  /** The language, such as `sh`. */
  readonly language: string;
  /** What follows the language, such as `notest`. */
  readonly info: string;
  readonly text: string;
  /** The line of its first fence, from 1. */
  readonly line: number;
}

/** The pages of the documentation: the README, and every page in `docs/`. Paths from the root of the checkout. */
export const pages: readonly string[] = [
  'README.md',
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md'))
    .map((file) => join('docs', file)),
];

/** The text of a page. */
export const readPage = (page: string): string => readFileSync(join(root, page), 'utf8');

/** The fenced code blocks of a page, in order. */
export function snippetsOf(page: string): Snippet[] {
  const text = readPage(page);
  return [...text.matchAll(/^```(\w*) ?([^\n`]*)\n(.*?)^```$/gms)].map(
    ({ 1: language = '', 2: info = '', 3: code = '', index }) => ({
      language,
      info,
      text: code,
      line: text.slice(0, index).split('\n').length,
    }),
  );
}
