import { quote } from '../words.ts';
import { describePlace, example, navigation, type Rule, type Site } from './rule.ts';

/** A page is listed twice in the navigation. */
export const duplicatePage: Rule = {
  severity: 'warning',
  title: 'A page is listed twice',
  explanation:
    'A page has one place in the navigation. If it is listed twice, it is highlighted twice, and "next page" leads readers in circles.',
  wrong: navigation('[{ "group": "Guides", "pages": ["start", "install", "start"] }]'),
  right: navigation('[{ "group": "Guides", "pages": ["start", "install"] }]'),
  concerns: ({ annotations }) => annotations.refersTo === 'page',
  checkString: (value, { start, end, site, line }, report) => {
    if (value.trim() === '') return;
    const page = normalizePage(value);
    const first = site.pages.get(page);
    if (first === undefined) return void site.pages.set(page, start);
    report(() => ({
      range: { start, end },
      message: `The page ${quote(value)} is already listed on line ${line(first)}.`,
      suggestion: 'Remove one of them.',
    }));
  },
};

/** An anchor refers to a version that is not declared. */
export const undeclaredVersion: Rule = {
  severity: 'warning',
  title: 'An anchor belongs to a version that is not declared',
  explanation:
    'An anchor with "version" is hidden until that version is selected. If "versions" does not contain it, the anchor is never shown.',
  wrong: example('"versions": ["v1"]', '"anchors": [{ "name": "API", "url": "guides", "version": "v2" }]'),
  right: example('"versions": ["v1", "v2"]', '"anchors": [{ "name": "API", "url": "guides", "version": "v2" }]'),
  concerns: ({ annotations }) => annotations.refersTo === 'version',
  needsDocument: true,
  checkString: (value, { start, end, site }, report) => {
    if (site.versions.has(value)) return;
    report(() => ({
      range: { start, end },
      message: `The version ${quote(value)} is not in "versions".`,
      suggestion: 'Add it to "versions", or correct it here.',
    }));
  },
};

/** A tab or anchor has no pages. */
export const unmatchedUrl: Rule = {
  severity: 'warning',
  title: 'No page belongs to a tab or anchor',
  explanation:
    'The url of a tab or anchor is the prefix of the paths of its pages, usually a folder. Absolute URLs, such as https://example.com, are not checked.',
  wrong: example('"tabs": [{ "name": "API", "url": "api-reference" }]'),
  right: example('"tabs": [{ "name": "Guides", "url": "guides" }]'),
  concerns: ({ annotations }) => annotations.refersTo === 'pages-below',
  needsDocument: true,
  checkString: (value, { start, end, site, path }, report) => {
    if (value.trim() === '' || isAddress(value)) return;
    const prefix = normalizePage(value).replace(/\/$/, '');
    if (startsPage(site, prefix)) return;
    report(() => ({
      range: { start, end },
      message: `${describePlace(path)} is ${quote(value)}, and no page in the navigation begins with it.`,
      suggestion: 'Correct it, or add its pages to the navigation.',
    }));
  },
};

const pageEndings = ['.mdx', '.md', ''];

/** A referenced file does not exist. */
export const missingFile: Rule = {
  severity: 'warning',
  title: 'A referenced file does not exist',
  explanation:
    'Pages, logos, the favicon, the background image and OpenAPI files are paths from the folder of the configuration file; pages without their .mdx or .md. URLs are not checked; nothing is checked when the files are not known.',
  wrong: navigation('[{ "group": "Guides", "pages": ["guides/strat"] }]'),
  right: navigation('[{ "group": "Guides", "pages": ["guides/start"] }]'),
  files: ['guides/start.mdx'],
  concerns: ({ annotations }) => annotations.refersTo === 'page' || annotations.refersTo === 'file',
  checkString: (value, { branch, start, end, site: { files } }, report) => {
    if (!files) return;
    const kind = branch?.annotations.refersTo;
    const path = kind === 'page' ? normalizePage(value) : normalizePath(value.trim()).replace(/[?#].*/s, '');
    const endings = kind === 'page' ? pageEndings : [''];
    if (endings.some((ending) => files.has(path + ending))) return;
    if (value.trim() === '' || isAddress(value) || isOperation(value)) return;
    report(() => ({
      range: { start, end },
      message: `There is no file for the ${kind === 'page' ? 'page' : 'path'} ${quote(value)}.`,
      suggestion: 'Add the file, or correct the path.',
    }));
  },
};

/** A page may name an operation of the OpenAPI file, such as `GET /users`, instead of a file. */
function isOperation(page: string): boolean {
  return /(?:^|\s)(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS|TRACE|WEBHOOK)\s/i.test(page);
}

/** Whether the path of any page starts with a prefix: such pages follow the position of the prefix in the sorted list. */
function startsPage(site: Site, prefix: string): boolean {
  site.sortedPages ??= [...site.pages.keys()].sort((a, b) => (a < b ? -1 : 1));
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
function normalizePage(path: string): string {
  const plain = normalizePath(path.trim());
  return plain.endsWith('.mdx') ? plain.slice(0, -4) : plain.endsWith('.md') ? plain.slice(0, -3) : plain;
}

/** Whether it is a URL or a fragment rather than a path. */
function isAddress(path: string): boolean {
  return /^\s*(?:[a-zA-Z][a-zA-Z0-9+.-]*:|\/\/|#)/.test(path);
}
