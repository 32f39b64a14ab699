import { existsSync, readdirSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect, test } from 'vitest';
import { pages, readPage } from '../support/snippets.ts';

/** The anchor that GitHub derives from a heading. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');

const withoutCode = (text: string): string => text.replace(/^```.*?^```$/gms, '');

function anchorsOf(page: string): string[] {
  return [...withoutCode(readPage(page)).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => anchorOf(heading));
}

const exampleReadmes = readdirSync('examples', { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => `examples/${name}/README.md`);
const others = ['bench/README.md', 'client/README.md', 'examples/README.md', ...exampleReadmes];

const links = [...pages, ...others].flatMap((page) =>
  [...withoutCode(readPage(page)).matchAll(/\]\(([^)]+)\)/g)].flatMap(([, link = '']) => {
    if (/^https?:/.test(link)) return [];
    const [path = '', anchor] = link.split('#');
    return [{ page, link, target: path === '' ? page : normalize(join(dirname(page), path)), anchor }];
  }),
);

test('every link between the pages leads to a file and to a heading in it', () => {
  expect(links.length).toBeGreaterThan(20);
  const broken = links.filter(
    ({ target, anchor }) => !existsSync(target) || (anchor !== undefined && !anchorsOf(target).includes(anchor)),
  );
  expect(broken.map(({ page, link }) => `${page}: ${link}`)).toEqual([]);
});

test('the README of the examples links to each of them', () => {
  const linked = links.filter(({ page }) => page === 'examples/README.md').map(({ target }) => target);
  expect(linked).toEqual(expect.arrayContaining(exampleReadmes));
});

test('the README links to every page', () => {
  const linked = links.filter(({ page }) => page === 'README.md').map(({ target }) => target);
  const missing = pages.filter((page) => page !== 'README.md' && !linked.includes(page));
  expect(missing).toEqual([]);
});
