import { ArgumentsError } from './docs-config-arguments.ts';

/** The maximum length of a glob, and of all that its braces expand to, in characters. */
const maxGlobCharacters = 10_000;

/** A part of a path segment: any number of characters, or one that passes a test. */
type Part = 'many' | ((character: string) => boolean);

/** A compiled glob. */
interface Glob {
  /** The folder before the first wildcard: empty, or with a slash at its end. */
  readonly folder: string;
  /** Whether a path from that folder, with forward slashes, matches. Takes time in proportion to the path times the glob. */
  readonly matches: (path: string) => boolean;
}

/** Whether an argument is a glob rather than a path. */
export function isGlob(argument: string): boolean {
  return /[*?[{]/.test(argument);
}

/**
 * Compiles a glob: `*` and `?` stand for characters of a name, `**` for any number of folders, `[a-z]` for one of these
 * characters, `[!a-z]` for any other, `{a,b}` for one of these texts. A backslash makes the next character an ordinary one.
 *
 * Not a regular expression: with a few stars, these can take exponential time.
 *
 * @throws ArgumentsError when it is longer than 10,000 characters, or its alternatives together are.
 */
export function compileGlob(glob: string): Glob {
  const slash = glob.lastIndexOf('/', glob.search(/[*?[{]/));
  const patterns = expandBraces(glob.slice(slash + 1)).map((pattern) =>
    pattern.split('/').map((segment) => (segment === '**' ? 'many' : parseSegment(segment))),
  );
  const isName = (name: string, parts: readonly Part[]) => matches([...name], parts, (character, accepts) => accepts(character));
  return {
    folder: glob.slice(0, slash + 1),
    matches: (path) => {
      const names = path.split('/');
      return patterns.some((segments) => matches(names, segments, isName));
    },
  };
}

/**
 * Whether items match a pattern in which `many` stands for any number of them. When the rest does not match, only the last `many`
 * needs to take one more: what an earlier one could take, the last can take as well.
 */
function matches<Item, Matcher>(
  items: readonly Item[],
  pattern: readonly (Matcher | 'many')[],
  matchesOne: (item: Item, matcher: Exclude<Matcher, 'many'>) => boolean,
): boolean {
  let item = 0;
  let part = 0;
  let retryItem = 0;
  let retryPart = -1;
  while (item < items.length) {
    const matcher = pattern[part];
    if (matcher === 'many') {
      retryPart = ++part;
      retryItem = item;
    } else if (matcher !== undefined && matchesOne(items[item] as Item, matcher as Exclude<Matcher, 'many'>)) {
      item++;
      part++;
    } else if (retryPart === -1) return false;
    else {
      item = ++retryItem;
      part = retryPart;
    }
  }
  return pattern.slice(part).every((rest) => rest === 'many');
}

function parseSegment(segment: string): Part[] {
  // An escaped character, a class of characters, or any character.
  return Array.from(segment.matchAll(/\\(.)|\[([!^]?)([^\]]+)\]|./gsu), ([token, escaped, not, characters]): Part => {
    if (characters !== undefined) return parseClass(characters, not !== '');
    if (token === '*') return 'many';
    if (token === '?') return () => true;
    return (character) => character === (escaped ?? token);
  });
}

function parseClass(characters: string, negated: boolean): Part {
  const ranges = Array.from(characters.matchAll(/(.)-(.)|./gsu), ([single, from = single, to = single]) => ({ from, to }));
  return (character) => ranges.some(({ from, to }) => from <= character && character <= to) !== negated;
}

/** Expands `a{b,c}` to `ab` and `ac`, from the innermost braces outwards. */
function expandBraces(glob: string): string[] {
  const expanded: string[] = [];
  const waiting = [glob];
  let characters = glob.length;
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (characters > maxGlobCharacters)
      throw new ArgumentsError(`The glob is too long, or has too many alternatives: ${glob.slice(0, 80)}`);
    const braces = /(?<!\\)\{([^{}]*)\}/.exec(next);
    if (!braces) {
      expanded.push(next);
      continue;
    }
    const [before, after] = [next.slice(0, braces.index), next.slice(braces.index + braces[0].length)];
    for (const choice of (braces[1] as string).split(',')) {
      waiting.push(before + choice + after);
      characters += before.length + choice.length + after.length;
    }
  }
  return expanded;
}
