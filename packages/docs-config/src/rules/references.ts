import { quote } from '../words.ts';
import { describePlace, example, navigation, type Rule, type Site, type Visit } from './rule.ts';

/** A page is listed twice in the navigation. */
export const duplicatePage: Rule = {
  severity: 'warning',
  title: 'A page is listed twice',
  explanation:
    'A page has one place in the navigation. If it is listed twice, it is highlighted twice, and "next page" leads readers in circles.',
  wrong: navigation('[{ "group": "Guides", "pages": ["start", "install", "start"] }]'),
  right: navigation('[{ "group": "Guides", "pages": ["start", "install"] }]'),
  checkFor: ({ branch }) =>
    branch?.annotations.refersTo === 'page' &&
    ((visit, report) => {
      const { value = '', isRepeated } = visit;
      if (!isRepeated) return;
      report(() => ({
        range: visit,
        message: `The page ${quote(value)} is already listed.`,
        suggestion: 'Remove one of them.',
      }));
    }),
};

/** An anchor refers to a version that is not declared. */
export const undeclaredVersion: Rule = {
  severity: 'warning',
  title: 'An anchor belongs to a version that is not declared',
  explanation:
    'An anchor with "version" is hidden until that version is selected. If "versions" does not contain it, the anchor is never shown.',
  wrong: example('"versions": ["v1"]', '"anchors": [{ "name": "API", "url": "guides", "version": "v2" }]'),
  right: example('"versions": ["v1", "v2"]', '"anchors": [{ "name": "API", "url": "guides", "version": "v2" }]'),
  needsDocument: true,
  checkFor: ({ branch }) =>
    branch?.annotations.refersTo === 'version' &&
    ((visit, report) => {
      const { value = '', site } = visit;
      if (site.versions.has(value)) return;
      report(() => ({
        range: visit,
        message: `The version ${quote(value)} is not in "versions".`,
        suggestion: 'Add it to "versions", or correct it here.',
      }));
    }),
};

/** A tab or anchor has no pages. */
export const unmatchedUrl: Rule = {
  severity: 'warning',
  title: 'No page belongs to a tab or anchor',
  explanation:
    'The url of a tab or anchor is the prefix of the paths of its pages, usually a folder. Absolute URLs, such as https://example.com, are not checked.',
  wrong: example('"tabs": [{ "name": "API", "url": "api-reference" }]'),
  right: example('"tabs": [{ "name": "Guides", "url": "guides" }]'),
  needsDocument: true,
  checkFor: ({ branch }) =>
    branch?.annotations.refersTo === 'pages-below' &&
    ((visit, report) => {
      const { value = '', site, path } = visit;
      if (value.trim() === '' || isAddress(value)) return;
      const prefix = normalizePage(value).replace(/\/$/, '');
      if (startsPage(site, prefix)) return;
      report(() => ({
        range: visit,
        message: `${describePlace(path)} is ${quote(value)}, and no page in the navigation begins with it.`,
        suggestion: 'Correct it, or add its pages to the navigation.',
      }));
    }),
};

/** A referenced file does not exist. */
export const missingFile: Rule = {
  severity: 'warning',
  title: 'A referenced file does not exist',
  explanation:
    'Pages, logos, the favicon, the background image and OpenAPI files are paths from the folder of the configuration file; pages without their .mdx or .md. URLs are not checked; nothing is checked when the files are not known.',
  wrong: navigation('[{ "group": "Guides", "pages": ["guides/strat"] }]'),
  right: navigation('[{ "group": "Guides", "pages": ["guides/start"] }]'),
  files: ['guides/start.mdx'],
  checkFor: ({ branch }) => {
    const kind = branch?.annotations.refersTo;
    if (kind !== 'page' && kind !== 'file') return undefined;
    return (visit, report) => {
      const { value = '', page, site } = visit;
      const path = normalizePath(value.trim()).replace(/[?#].*/s, '');
      const isFile = kind === 'page' ? site.pageFiles?.has(page) : site.files?.has(path);
      if (!site.files || isFile || value.trim() === '' || isAddress(value) || isOperation(value)) return;
      report(() => ({
        range: visit,
        message: `There is no file for the ${kind === 'page' ? 'page' : 'path'} ${quote(value)}.`,
        suggestion: 'Add the file, or correct the path.',
      }));
    };
  },
};

/** A page may name an operation of the OpenAPI file, such as `GET /users`, instead of a file. */
function isOperation(page: string): boolean {
  return /(?:^|\s)(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS|TRACE|WEBHOOK)\s/i.test(page);
}

/** Notes a page, and whether it was noted before. */
export function notePage(visit: Visit, value: string): void {
  const { pages } = visit.site;
  const { size } = pages;
  visit.page = normalizePage(value);
  if (visit.page !== '') pages.add(visit.page);
  visit.isRepeated = visit.page !== '' && pages.size === size;
}

/** Whether the path of any page starts with a prefix: such pages follow the position of the prefix in the sorted list. */
function startsPage(site: Site, prefix: string): boolean {
  site.sortedPages ??= [...site.pages].sort((a, b) => (a < b ? -1 : 1));
  const pages = site.sortedPages;
  let [low, high] = [0, pages.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((pages[middle] as string) < prefix) low = middle + 1;
    else high = middle;
  }
  return pages[low]?.startsWith(prefix) ?? false;
}

/** Normalizes a path for comparison: forward slashes, none at the start. */
export function normalizePath(path: string): string {
  const plain = path.includes('\\') ? path.replaceAll('\\', '/') : path;
  return plain.startsWith('/') || plain.startsWith('./') ? plain.replace(/^(?:\.?\/)+/, '') : plain;
}

/** Normalizes the path of a page for comparison: as above, without the file extension. */
export function normalizePage(path: string): string {
  const plain = normalizePath(path.trim());
  return plain.endsWith('.mdx') ? plain.slice(0, -4) : plain.endsWith('.md') ? plain.slice(0, -3) : plain;
}

/** Whether it is a URL or a fragment rather than a path. */
function isAddress(path: string): boolean {
  return /^\s*(?:[a-zA-Z][a-zA-Z0-9+.-]*:|\/\/|#)/.test(path);
}
