import { isDamaged, type JsonNode, valueUnder } from '../json/syntax-tree.ts';

/** What rules need to know about the whole document and the files around it. Computed on first use. */
export interface Site {
  /** The declared versions; undefined when they are unknown because of syntax errors. */
  readonly versions: () => ReadonlySet<string> | undefined;
  /** Whether the path of any page starts with a prefix; undefined when the pages are unknown because of syntax errors. */
  readonly startsPage: (prefix: string) => boolean | undefined;
  /** The first mention of a page; undefined for the first call, which records it. */
  readonly firstMention: (page: string, node: JsonNode) => JsonNode | undefined;
  /** The paths of the site's files; undefined when they are unknown. */
  readonly files: () => ReadonlySet<string> | undefined;
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
    files: once(() => files && new Set(files.map(normalizePath))),
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

function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
