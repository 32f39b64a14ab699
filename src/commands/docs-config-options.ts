import { parseArgs } from 'node:util';
import { didYouMean } from '../did-you-mean.ts';
import { UsageError } from '../errors.ts';

/** Whether the arguments ask for the help of a command rather than for what it does. */
function asksForHelp(args: readonly (string | undefined)[]): boolean {
  return args.includes('--help') || args.includes('-h');
}

/**
 * Runs an action of a command, such as `token list`, or prints the help if the arguments ask for it.
 *
 * @param actions what the command can do, by name.
 * @returns the exit status.
 * @throws UsageError when the first argument is none of them.
 */
export async function runAction<Io extends { readonly stdout: { write(text: string): unknown } }>(
  command: string,
  help: string,
  actions: Readonly<Record<string, (args: string[], io: Io) => number | Promise<number>>>,
  [name = '', ...args]: string[],
  io: Io,
): Promise<number> {
  if (asksForHelp([name, ...args])) {
    io.stdout.write(help);
    return 0;
  }
  const action = Object.hasOwn(actions, name) ? actions[name] : undefined;
  if (action) return action(args, io);
  const unknown = `Unknown command "${command} ${name}".${suggest(name, Object.keys(actions))}`;
  throw new UsageError(`${name ? unknown : 'No subcommand was given.'}\n\n${help}`);
}

/** What follows a message about an unknown name: the known one that it may stand for; empty when none is close. */
export function suggest(given: string, known: Iterable<string>): string {
  const meant = didYouMean(given, known);
  return meant ? ` Did you mean ${meant}?` : '';
}

/** What an option takes: no value, one value, or one value per occurrence. */
type OptionKind = 'flag' | 'value' | 'values';

/** The options of a command, by their names without the dashes. */
export type OptionKinds = Readonly<Record<string, OptionKind>>;

/** The arguments of a command, as far as they could be read. */
export interface ReadOptions {
  /** The values of each option that was given; a flag has none. */
  readonly given: ReadonlyMap<string, readonly string[]>;
  /** The arguments that belong to no option. */
  readonly words: readonly string[];
  /** Everything that is wrong with the options themselves, one sentence each. Callers add what else they find. */
  readonly problems: string[];
}

/**
 * Reads `--name value`, `--name=value` and `--flag`; what follows `--` is words. Finds every problem, so that the caller can
 * report all of them at once.
 */
export function readOptions(args: readonly string[], kinds: OptionKinds): ReadOptions {
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
    // One dash may begin a value, such as a cursor, which Node.js reads as options of one letter; two begin the next option.
    const next = args[index + 1];
    const isValue = kind !== 'flag' && next !== undefined && !next.startsWith(kind === undefined ? '-' : '--');
    const value = inline ?? (isValue ? next : undefined);
    while (value !== inline && tokens[0]?.index === index + 1) tokens.shift();

    const text = rawName.startsWith('--') ? rawName : (args[index] ?? rawName); // Node.js reads -json as -j -s -o -n
    if (kind === undefined) problems.add(`Unknown option ${text}.${suggest(text, known)}`);
    else if (kind === 'flag' && inline !== undefined) problems.add(`--${name} takes no value.`);
    else if (kind === 'value' && given.has(name)) problems.add(`--${name} is given more than once.`);
    else if (kind !== 'flag' && value === undefined) problems.add(`--${name} needs a value.`);
    if (kind !== undefined) given.set(name, [...(given.get(name) ?? []), ...(value === undefined ? [] : [value])]);
  }
  return { given, words, problems: [...problems] };
}
