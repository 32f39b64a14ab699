import { InvalidArgumentError, Option } from 'commander';
import type { EnvironmentTag } from '../generated/prisma/client.ts';

/** The option `--environment`. Commander keeps no null, so that {@link environmentTagOf} converts it. */
export const environmentOption = (description: string): Option =>
  new Option('--environment <environment>', `${description}; none is untagged`).choices(['Customer', 'Testing', 'none']);

/** The environment that the option names; `null` means untagged. */
export const environmentTagOf = (name: string): EnvironmentTag | null => (name === 'none' ? null : (name as EnvironmentTag));

/** An option that may be repeated, with one of a few values each. */
export const repeatedChoice = (flags: string, description: string, choices: readonly string[]): Option =>
  new Option(flags, description).argParser((value, previous: readonly string[] = []) => {
    if (choices.includes(value)) return [...previous, value];
    throw new InvalidArgumentError(`It must be one of ${choices.join(', ')}.`);
  });

/** Reads the number of a row, such as that of an API token. */
export function parseId(text: string): number {
  if (/^[1-9]\d{0,9}$/.test(text) && Number(text) < 2 ** 31) return Number(text);
  throw new InvalidArgumentError('It must be a number that `list` shows.');
}

/** Reads a whole number. */
export const parseNumber =
  (max: number) =>
  (text: string): number => {
    if (/^[1-9]\d{0,6}$/.test(text) && Number(text) <= max) return Number(text);
    throw new InvalidArgumentError(`It must be a whole number from 1 to ${max}.`);
  };

const unitSeconds: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400, w: 604_800 };

/** Reads a number and a unit, such as 30s, 12h or 90d, as seconds; at most a hundred years. */
export function parseSeconds(text: string): number {
  const [, amount = '', unit = ''] = /^(\d{1,6})([smhdw])$/.exec(text) ?? [];
  const seconds = Number(amount) * (unitSeconds[unit] ?? 0);
  if (seconds > 0 && seconds <= 100 * 52 * 604_800) return seconds;
  throw new InvalidArgumentError('It must be a number and a unit, such as 30m, 12h, 90d or 52w.');
}
