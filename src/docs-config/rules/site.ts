import { didYouMean } from '../../did-you-mean.ts';
import { isDamaged, type JsonNode, valueUnder } from '../json/syntax-tree.ts';

/** What rules need to know about the whole document and the files around it. Computed on first use. */
export interface Site {
  /** The declared versions; undefined when they are unknown because of syntax errors. */
  readonly versions: () => ReadonlySet<string> | undefined;
  /** Whether the path of any page starts with a prefix; undefined when the pages are unknown because of syntax errors. */
  readonly startsPage: (prefix: string) => boolean | undefined;
  /** The first mention of a page; undefined for the first call, which records it. */
  readonly firstMention: (page: string, node: JsonNode) => JsonNode | undefined;
  /** The site's files; undefined when they are unknown. */
  readonly files: () => SiteFiles | undefined;
}

/** The files that references are resolved against. */
interface SiteFiles {
  readonly has: (path: string) => boolean;
  /**
   * The file that one of the paths most likely means: one that differs only in case, the only one of that name in another folder,
   * or one with a similar name in the same folder.
   */
  readonly similar: (paths: readonly string[]) => string | undefined;
}

/** Creates the site of a document. */
export function createSite(root: JsonNode, files: readonly string[] | undefined): Site {
  const mentions = new Map<string, JsonNode>();
  const pages = once(() => findPages(root));
  const sortedPages = once(() => pages()?.toSorted());
  let prefixLookUps = 0;
  return {
    versions: once(() => findVersions(root)),
    startsPage: (prefix) => {
      // Sorting pays off only for many tabs, and keeps thousands of them linear.
      if (prefixLookUps++ < 16) return pages()?.some((page) => page.startsWith(prefix));
      return isPrefixOfAny(sortedPages(), prefix);
    },
    firstMention: (page, node) => {
      const first = mentions.get(page);
      if (!first) mentions.set(page, node);
      return first;
    },
    files: once(() => files && createSiteFiles(indexFiles(files))),
  };
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
export function isAddress(path: string): boolean {
  return /^(?:[a-zA-Z][a-zA-Z0-9+.-]*:|\/\/|#)/.test(path.trim());
}

function findVersions(root: JsonNode): ReadonlySet<string> | undefined {
  const versions = valueUnder(root, 'versions');
  if (!versions) return isDamaged(root) ? undefined : new Set();
  if (versions.kind !== 'array' || isDamaged(versions)) return undefined;
  return new Set(versions.items.flatMap((item) => (item.kind === 'string' ? [item.value] : [])));
}

function findPages(root: JsonNode): string[] | undefined {
  const navigation = valueUnder(root, 'navigation');
  if (navigation?.kind !== 'array' || isDamaged(navigation) || isDamaged(root)) return undefined;
  const found: string[] = [];
  const waiting: JsonNode[] = [...navigation.items];
  for (let node = waiting.pop(); node; node = waiting.pop()) {
    if (node.kind === 'string') found.push(normalizePage(node.value));
    const below = valueUnder(node, 'pages');
    if (below?.kind === 'array') for (const item of below.items) waiting.push(item);
  }
  return found;
}

/** Whether an entry of a sorted list starts with a prefix: such entries directly follow the position of the prefix. */
function isPrefixOfAny(sorted: readonly string[] | undefined, prefix: string): boolean | undefined {
  if (!sorted) return undefined;
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] as string) < prefix) low = middle + 1;
    else high = middle;
  }
  return sorted[low]?.startsWith(prefix) ?? false;
}

/** The look-up tables of a list of files. */
interface FileIndex {
  readonly known: ReadonlySet<string>;
  readonly byFolded: ReadonlyMap<string, string>;
  /** Undefined for a name that several files have. */
  readonly byName: ReadonlyMap<string, string | undefined>;
  /** Names in a folder, at most {@link maxNeighbors} of them. */
  readonly byFolder: ReadonlyMap<string, readonly string[]>;
}

/** The maximum number of files per folder that are compared with a mistyped name. */
const maxNeighbors = 500;

/** The maximum number of names compared for one document; after that, missing files get no suggestion. */
const maxComparisons = 20_000;

const indexes = new WeakMap<readonly string[], FileIndex>();

/** The index of a list, built once however many documents are checked against the same list. */
function indexFiles(files: readonly string[]): FileIndex {
  const made = indexes.get(files);
  if (made) return made;
  const known = new Set(files.map(normalizePath));
  const byFolded = new Map<string, string>();
  const byName = new Map<string, string | undefined>();
  const byFolder = new Map<string, string[]>();
  for (const file of known) {
    byFolded.set(file.toLowerCase(), file);
    const name = baseName(file);
    byName.set(name, byName.has(name) ? undefined : file);
    const folder = folderOf(file);
    const neighbors = byFolder.get(folder);
    if (!neighbors) byFolder.set(folder, [name]);
    else if (neighbors.length < maxNeighbors) neighbors.push(name);
  }
  const index = { known, byFolded, byName, byFolder };
  indexes.set(files, index);
  return index;
}

function createSiteFiles({ known, byFolded, byName, byFolder }: FileIndex): SiteFiles {
  let comparisons = 0;
  const similar = (path: string): string | undefined => {
    const sure = byFolded.get(path.toLowerCase()) ?? byName.get(baseName(path));
    if (sure !== undefined) return sure;
    const folder = folderOf(path);
    const neighbors = byFolder.get(folder) ?? [];
    if (comparisons + neighbors.length > maxComparisons) return undefined;
    comparisons += neighbors.length;
    const near = didYouMean(baseName(path), neighbors);
    return near === undefined ? undefined : byFolded.get(folder.toLowerCase() + near);
  };
  return {
    has: (path) => known.has(path),
    similar: (paths) => {
      for (const path of paths) {
        const file = similar(path);
        if (file !== undefined) return file;
      }
      return undefined;
    },
  };
}

function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/') + 1);
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1).toLowerCase();
}

function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
