import type { Annotations } from '../schema/annotations.ts';
import type { SchemaModel } from '../schema/schema-model.ts';
import { describePlace, example, navigation, quote, type Rule, somePart } from './rule.ts';
import { isAddress, normalizePage, normalizePath } from './site.ts';

/** A page is listed twice in the navigation. */
export const duplicatePage: Rule = {
  severity: 'warning',
  title: 'A page is listed twice',
  explanation:
    'A page has one place in the navigation. If it is listed twice, it is highlighted twice, and "next page" leads readers in circles.',
  wrong: navigation('[{ "group": "Guides", "pages": ["start", "install", "start"] }]'),
  right: navigation('[{ "group": "Guides", "pages": ["start", "install"] }]'),
  concerns: refersTo('page'),
  check: ({ branch, node, site, line }, report) => {
    if (branch?.annotations.refersTo !== 'page' || node.kind !== 'string' || node.value.trim() === '') return;
    const first = site.firstMention(normalizePage(node.value), node);
    if (!first) return;
    report(() => ({
      range: node,
      message: `The page ${quote(node.value)} is already listed on line ${line(first.start)}.`,
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
  concerns: refersTo('version'),
  check: ({ branch, node, site }, report) => {
    if (branch?.annotations.refersTo !== 'version' || node.kind !== 'string' || site.versions()?.has(node.value) !== false)
      return;
    report(() => ({
      range: node,
      message: `The version ${quote(node.value)} is not in "versions".`,
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
  concerns: refersTo('pages-below'),
  check: ({ branch, node, site, path }, report) => {
    if (
      branch?.annotations.refersTo !== 'pages-below' ||
      node.kind !== 'string' ||
      node.value.trim() === '' ||
      isAddress(node.value)
    )
      return;
    const prefix = normalizePage(node.value).replace(/\/$/, '');
    if (site.startsPage(prefix) !== false) return;
    report(() => ({
      range: node,
      message: `${describePlace(path)} is ${quote(node.value)}, and no page in the navigation begins with it.`,
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
  concerns: refersTo('page', 'file'),
  check: ({ branch, node, site }, report) => {
    const kind = branch?.annotations.refersTo;
    if ((kind !== 'page' && kind !== 'file') || node.kind !== 'string' || node.value.trim() === '') return;
    const files = site.files();
    if (!files || isAddress(node.value) || isOperation(node.value)) return;
    const path = kind === 'page' ? normalizePage(node.value) : withoutQuery(normalizePath(node.value.trim()));
    const endings = kind === 'page' ? pageEndings : [''];
    if (endings.some((ending) => files.has(path + ending))) return;
    report(() => ({
      range: node,
      message: `There is no file for the ${kind === 'page' ? 'page' : 'path'} ${quote(node.value)}.`,
      suggestion: 'Add the file, or correct the path.',
    }));
  },
};

/** Removes the query and the fragment of a path. */
function withoutQuery(path: string): string {
  const end = path.search(/[?#]/);
  return end === -1 ? path : path.slice(0, end);
}

/** A page may name an operation of the OpenAPI file, such as `GET /users`, instead of a file. */
function isOperation(page: string): boolean {
  return /(?:^|\s)(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS|TRACE|WEBHOOK)\s/i.test(page);
}

/** Creates a test for models of strings with one of these references. */
function refersTo(...kinds: Annotations['refersTo'][]): (model: SchemaModel) => boolean {
  return (model) =>
    somePart(model, ({ annotations }) => annotations.refersTo !== undefined && kinds.includes(annotations.refersTo));
}
