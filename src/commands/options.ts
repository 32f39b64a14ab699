import type { Readable, Writable } from 'node:stream';
import { parseArgs } from 'node:util';
import { didYouMean } from '../did-you-mean.ts';
import type { EnvironmentTag } from '../generated/prisma/client.ts';

/** Invalid command-line arguments. The message says what is expected. */
export class UsageError extends Error {}

/** The streams of a command, as a process has them: for input, for the result, and for progress, prompts and warnings. */
export interface Streams {
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: Writable;
  readonly stderr: Writable & { readonly isTTY?: boolean; readonly columns?: number };
}

/** The streams of a command that reads no input. */
export type OutputStreams = Pick<Streams, 'stdout' | 'stderr'>;

/** Whether the arguments ask for the help of a command rather than for what it does. */
export function asksForHelp(args: readonly (string | undefined)[]): boolean {
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

/** The same for a command that takes no words: each is a problem. */
export function readOnlyOptions(args: readonly string[], kinds: OptionKinds): ReadOptions {
  const read = readOptions(args, kinds);
  read.problems.unshift(...unexpected(read.words));
  return read;
}

/** The problems of words that a command does not take. */
export const unexpected = (words: readonly string[]): string[] =>
  words.map((word) => `Unexpected argument ${JSON.stringify(word)}.`);

/** Reads the arguments of a command that takes only `--json`. @returns whether it was given. @throws UsageError for another. */
export function readJsonFlag(args: readonly string[], command: string, help: string): boolean {
  const { given, words, problems } = readOptions(args, { json: 'flag' });
  if (words.length + problems.length === 0) return given.has('json');
  throw new UsageError([...problems, `${command} accepts only --json.`, '', help].join('\n'));
}

/** Whether an argument can be the number of a row, such as an API token. */
export const isRowNumber = (text: string): boolean => /^[1-9]\d{0,9}$/.test(text) && Number(text) < 2 ** 31;

/** Reads the number of a row, such as that of a webhook, and options. @param command such as `webhooks`. */
export function readNumbered(
  command: string,
  action: string,
  args: readonly string[],
  kinds: OptionKinds,
): ReadOptions & { readonly id: number } {
  const read = readOptions(args, kinds);
  const [id = ''] = read.words;
  if (read.words.length !== 1 || !isRowNumber(id))
    read.problems.push(`${command} ${action} takes one numeric id; \`${command} list\` shows the ids.`);
  return { ...read, id: Number(id) };
}

/** @throws UsageError that lists the problems, if there are any. */
export function assertUnchanged(problems: readonly string[]): void {
  if (problems.length > 0) throw new UsageError(`${problems.join('\n')}\nNothing was changed.`);
}

/** @param command with what was not done. @throws UsageError that lists the problems before the help, if there are any. */
export function assertValid(problems: readonly string[], command: string, help: string): void {
  if (problems.length === 0) return;
  throw new UsageError(`Invalid arguments for ${command}.\n${problems.map((line) => `  ${line}\n`).join('')}\n${help}`);
}

/** The value of an option that takes one of a few; undefined when it was not given, or is not valid. */
export function choice<Name extends string>(
  { given, problems }: ReadOptions,
  option: string,
  names: readonly Name[],
): Name | undefined {
  const [value] = given.get(option) ?? [];
  if (value === undefined) return undefined;
  const found = names.find((name) => name === value);
  if (!found)
    problems.push(`--${option} must be ${names.slice(0, -1).join(', ')} or ${names.at(-1)}, not ${JSON.stringify(value)}.`);
  return found;
}

/** Adds a problem for each value of an option that is none of these. */
export function requireKnown({ given, problems }: ReadOptions, option: string, names: readonly string[]): void {
  for (const value of given.get(option) ?? [])
    if (!names.includes(value)) problems.push(`--${option} must be one of ${names.join(', ')}, not ${JSON.stringify(value)}.`);
}

/** The environments as the command line names them; null means untagged. */
export const environments: Readonly<Record<string, EnvironmentTag | null>> = {
  Customer: 'Customer',
  Testing: 'Testing',
  none: null,
};

/** The choices, as messages list them. */
export const environmentChoices = 'Customer, Testing or none (untagged)';

/** The environment of `--environment`; undefined when it was not given, or is not valid. */
export function environmentOf({ given, problems }: ReadOptions): EnvironmentTag | null | undefined {
  const [name] = given.get('environment') ?? [];
  if (name === undefined) return undefined;
  if (Object.hasOwn(environments, name)) return environments[name];
  problems.push(`--environment must be ${environmentChoices}, not ${JSON.stringify(name)}.`);
  return undefined;
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
