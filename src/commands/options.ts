import { didYouMean } from '../docs-config/did-you-mean.ts';

/** Whether the arguments ask for the help of a command rather than for what it does. */
export function asksForHelp(args: readonly (string | undefined)[]): boolean {
  return args.includes('--help') || args.includes('-h');
}

/** What an option takes: no value, one value, or one value per occurrence. */
export type OptionKind = 'flag' | 'value' | 'values';

/** The arguments of a command, as far as they could be read. */
export interface ReadOptions {
  /** The values of each option that was given; a flag has none. */
  readonly given: ReadonlyMap<string, readonly string[]>;
  /** The arguments that belong to no option. */
  readonly words: readonly string[];
  /** Everything that is wrong with the options themselves, one sentence each. */
  readonly problems: readonly string[];
}

/**
 * Reads `--name value`, `--name=value` and `--flag`. Unlike `parseArgs` of Node.js it does not stop at the first problem, so
 * that the caller can report all of them at once.
 */
export function readOptions(args: readonly string[], kinds: Readonly<Record<string, OptionKind>>): ReadOptions {
  const given = new Map<string, string[]>();
  const words: string[] = [];
  const problems: string[] = [];

  for (let i = 0; i < args.length; i += 1) {
    const [name, inline] = splitOption(args[i] ?? '');
    if (name === undefined) {
      words.push(args[i] ?? '');
      continue;
    }
    const kind = Object.hasOwn(kinds, name) ? kinds[name] : undefined;
    const next = args[i + 1];
    const value = inline ?? (kind !== 'flag' && next !== undefined && !next.startsWith('--') ? next : undefined);
    if (value !== undefined && inline === undefined) i += 1;

    if (kind === undefined) problems.push(unknownOption(name, Object.keys(kinds)));
    else if (kind === 'flag' && inline !== undefined) problems.push(`--${name} takes no value.`);
    else if (kind === 'value' && given.has(name)) problems.push(`--${name} is given more than once.`);
    else if (kind !== 'flag' && value === undefined) problems.push(`--${name} needs a value.`);
    if (kind !== undefined) given.set(name, [...(given.get(name) ?? []), ...(value === undefined ? [] : [value])]);
  }
  return { given, words, problems };
}

/** The name of an option and the value after its `=`, if it has one; no name for an argument that is not an option. */
function splitOption(argument: string): [name: string | undefined, inline: string | undefined] {
  if (!argument.startsWith('--')) return [undefined, undefined];
  const equals = argument.indexOf('=');
  return equals < 0 ? [argument.slice(2), undefined] : [argument.slice(2, equals), argument.slice(equals + 1)];
}

function unknownOption(name: string, known: readonly string[]): string {
  const meant = didYouMean(name, known);
  return `Unknown option --${name}.${meant ? ` Did you mean --${meant}?` : ''}`;
}
