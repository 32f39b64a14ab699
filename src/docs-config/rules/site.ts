import { nearest } from '../did-you-mean.ts';
import { type JsonNode, valueUnder } from '../json/syntax-tree.ts';

/** What rules ask about the document as a whole, and about the files around it. Each answer is prepared when first asked for. */
export interface Site {
  /** Versions that are declared; undefined when that cannot be told. */
  readonly versions: () => ReadonlySet<string> | undefined;
  /** Whether the path of some page begins like this; undefined when that cannot be told. */
  readonly startsPage: (prefix: string) => boolean | undefined;
  /** Where a page was first met on the walk; remembers it when it was not. */
  readonly firstMention: (page: string, node: JsonNode) => JsonNode | undefined;
  /** The files of the site; undefined when they are not known. */
  readonly files: () => SiteFiles | undefined;
}

/** The files that references are looked up in. */
interface SiteFiles {
  readonly has: (path: string) => boolean;
  /**
   * The file that one of the paths probably means: the same but for case, the only one of that name elsewhere, or one with a
   * similar name in the folder.
   */
  readonly similar: (paths: readonly string[]) => string | undefined;
}

/** The site that a document describes. */
export function siteOf(root: JsonNode, files: readonly string[] | undefined): Site {
  const mentions = new Map<string, JsonNode>();
  const pages = once(() => pagesOf(root));
  const sortedPages = once(() => pages()?.toSorted());
  let questions = 0;
  return {
    versions: once(() => versionsOf(root)),
    startsPage: (prefix) => {
      // Sorting pays for many tabs only, and is what keeps thousands of them linear.
      if (questions++ < 16) return pages()?.some((page) => page.startsWith(prefix));
      return startsOneOf(sortedPages(), prefix);
    },
    firstMention: (page, node) => {
      const first = mentions.get(page);
      if (!first) mentions.set(page, node);
      return first;
    },
    files: once(() => files && siteFiles(indexFiles(files))),
  };
}

/** A path in the form in which paths are compared: forward slashes, none in front. */
export function plainPath(path: string): string {
  const plain = path.includes('\\') ? path.replaceAll('\\', '/') : path;
  return plain.startsWith('/') || plain.startsWith('./') ? plain.replace(/^(?:\.?\/)+/, '') : plain;
}

/** The path of a page in the form in which pages are compared. */
export function plainPage(path: string): string {
  const plain = plainPath(path.trim());
  return plain.endsWith('.mdx') ? plain.slice(0, -4) : plain.endsWith('.md') ? plain.slice(0, -3) : plain;
}

/** Whether it is an address elsewhere, or a place on the page itself, and so no path. */
export function isAddress(path: string): boolean {
  return /^(?:[a-zA-Z][a-zA-Z0-9+.-]*:|\/\/|#)/.test(path.trim());
}

function versionsOf(root: JsonNode): ReadonlySet<string> | undefined {
  const versions = valueUnder(root, 'versions');
  if (!versions) return isDamaged(root) ? undefined : new Set();
  if (versions.kind !== 'array' || versions.damaged) return undefined;
  return new Set(versions.items.flatMap((item) => (item.kind === 'string' ? [item.value] : [])));
}

function pagesOf(root: JsonNode): string[] | undefined {
  const navigation = valueUnder(root, 'navigation');
  if (navigation?.kind !== 'array' || navigation.damaged || isDamaged(root)) return undefined;
  const found: string[] = [];
  const waiting: JsonNode[] = [...navigation.items];
  for (let node = waiting.pop(); node; node = waiting.pop()) {
    if (node.kind === 'string') found.push(plainPage(node.value));
    const below = valueUnder(node, 'pages');
    if (below?.kind === 'array') for (const item of below.items) waiting.push(item);
  }
  return found;
}

function isDamaged(node: JsonNode): boolean {
  return node.kind === 'object' && node.damaged;
}

/** In a sorted list the entries that begin with a prefix stand right behind the place of the prefix itself. */
function startsOneOf(sorted: readonly string[] | undefined, prefix: string): boolean | undefined {
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

/** Files by what they are looked up by. */
interface FileIndex {
  readonly known: ReadonlySet<string>;
  readonly byFolded: ReadonlyMap<string, string>;
  /** Undefined for a name that several files have. */
  readonly byName: ReadonlyMap<string, string | undefined>;
  /** Names in a folder, at most {@link maxNeighbors} of them. */
  readonly byFolder: ReadonlyMap<string, readonly string[]>;
}

/** In a folder with more files the rest is not compared with a mistyped name. */
const maxNeighbors = 500;

/** How many names are compared for one document; what is missing after that gets no suggestion. */
const maxComparisons = 20_000;

const indexes = new WeakMap<readonly string[], FileIndex>();

/** The index of a list, made once however many documents are checked against the same list. */
function indexFiles(files: readonly string[]): FileIndex {
  const made = indexes.get(files);
  if (made) return made;
  const known = new Set(files.map(plainPath));
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

function siteFiles({ known, byFolded, byName, byFolder }: FileIndex): SiteFiles {
  let comparisons = 0;
  const similar = (path: string): string | undefined => {
    const sure = byFolded.get(path.toLowerCase()) ?? byName.get(baseName(path));
    if (sure !== undefined) return sure;
    const folder = folderOf(path);
    const neighbors = byFolder.get(folder) ?? [];
    if (comparisons + neighbors.length > maxComparisons) return undefined;
    comparisons += neighbors.length;
    const near = nearest(baseName(path), neighbors);
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
