import { parseArgs } from 'node:util';
import { didYouMean } from '../docs-config/did-you-mean.ts';

/** Invalid command-line arguments. The message says what is expected. */
export class UsageError extends Error {}

/** Whether the arguments ask for the help of a command rather than for what it does. */
export function asksForHelp(args: readonly (string | undefined)[]): boolean {
  return args.includes('--help') || args.includes('-h');
}

/** Whether an argument can be the number of a row, such as an API token. */
export const isRowNumber = (text: string): boolean => /^[1-9]\d{0,9}$/.test(text) && Number(text) < 2 ** 31;

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
 * Reads `--name value`, `--name=value` and `--flag`; what follows `--` is words. Finds every problem, so that the caller can
 * report all of them at once.
 *
 * @param describeUnknown the problem of an unknown option, such as `--jsn`, where these are known.
 */
export function readOptions(
  args: readonly string[],
  kinds: Readonly<Record<string, OptionKind>>,
  describeUnknown = unknownOption,
): ReadOptions {
  const known = Object.keys(kinds).map((name) => `--${name}`);
  const given = new Map<string, string[]>();
  const words: string[] = [];
  const problems = new Set<string>();

  const { tokens } = parseArgs({ args: [...args], strict: false, tokens: true });
  for (let token = tokens.shift(); token; token = tokens.shift()) {
    if (token.kind === 'positional') words.push(token.value);
    if (token.kind !== 'option') continue;
    const { name, rawName, value: inline, index } = token;
    const kind = rawName === `--${name}` && Object.hasOwn(kinds, name) ? kinds[name] : undefined;
    const [next] = tokens;
    const value = inline ?? (kind !== 'flag' && next?.kind === 'positional' ? next.value : undefined);
    if (value !== inline) tokens.shift();

    // Node.js reads -json as -j -s -o -n.
    if (kind === undefined) problems.add(describeUnknown(rawName.startsWith('--') ? rawName : (args[index] ?? rawName), known));
    else if (kind === 'flag' && inline !== undefined) problems.add(`--${name} takes no value.`);
    else if (kind === 'value' && given.has(name)) problems.add(`--${name} is given more than once.`);
    else if (kind !== 'flag' && value === undefined) problems.add(`--${name} needs a value.`);
    if (kind !== undefined) given.set(name, [...(given.get(name) ?? []), ...(value === undefined ? [] : [value])]);
  }
  return { given, words, problems: [...problems] };
}

function unknownOption(given: string, known: readonly string[]): string {
  const meant = didYouMean(given, known);
  return `Unknown option ${given}.${meant ? ` Did you mean ${meant}?` : ''}`;
}

const unitsMs: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/** The longest duration: a hundred years. */
const maxDurationMs = 100 * 52 * 604_800_000;

/**
 * Reads a number and a unit, such as 30s, 12h or 90d, as milliseconds; undefined when it is none, zero, or above a hundred years.
 */
export function readDurationMs(text: string): number | undefined {
  const [, amount = '', unit = ''] = /^(\d{1,6})([smhdw])$/.exec(text) ?? [];
  const duration = Number(amount) * (unitsMs[unit] ?? 0);
  return duration > 0 && duration <= maxDurationMs ? duration : undefined;
}
