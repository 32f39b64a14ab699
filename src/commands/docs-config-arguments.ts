import { programFormats } from '../docs-config/reporters/programs.ts';
import { type Code, codes, isCode } from '../docs-config/rules/registry.ts';
import type { Level } from '../docs-config/rules/rule.ts';
import { type OptionKinds, type ReadOptions, readOptions, suggest, UsageError } from './options.ts';

/** Reads the options of a command. @throws UsageError that lists each that is unknown or has no value. */
export function readArguments(args: readonly string[], kinds: OptionKinds): ReadOptions {
  const read = readOptions(args, kinds);
  if (read.problems.length > 0) throw new UsageError(read.problems.join('\n'));
  return read;
}

/** @throws UsageError for an unknown format. */
export function formatFrom(format = 'pretty'): 'pretty' | keyof typeof programFormats {
  if (format === 'pretty' || Object.hasOwn(programFormats, format)) return format as 'pretty' | keyof typeof programFormats;
  throw new UsageError(`--format: ${unknown('format', format, ['pretty', ...Object.keys(programFormats)])}`);
}

/** @throws UsageError for a setting that is not `CODE=LEVEL`. */
export function severitiesFrom(settings: readonly string[]): Partial<Record<Code, Level>> {
  const severities: Partial<Record<Code, Level>> = {};
  for (const setting of settings) {
    const [code = '', level = '', ...rest] = setting.split('=');
    if (!isCode(code)) throw new UsageError(`--severity ${setting}: ${unknown('code', code, codes)}`);
    if (rest.length > 0 || !isLevel(level))
      throw new UsageError(`--severity ${setting}: write ${code}=error, ${code}=warning or ${code}=off.`);
    severities[code] = level;
  }
  return severities;
}

/** @throws UsageError unless there is exactly one, and it is a code. */
export function codeFrom([code, ...rest]: readonly string[]): Code {
  if (code === undefined) throw new UsageError(`Specify the code to explain, one of: ${codes.join(', ')}.`);
  if (rest.length > 0) throw new UsageError(`explain takes one code, but got ${rest.length + 1}.`);
  if (!isCode(code)) throw new UsageError(unknown('code', code, codes));
  return code;
}

function isLevel(level: string): level is Level {
  return level === 'error' || level === 'warning' || level === 'off';
}

/** The message for an unknown name: with a close match if there is one, or every known name. */
function unknown(kind: string, given: string, known: readonly string[]): string {
  return `Unknown ${kind} ${JSON.stringify(given)}.${suggest(given, known) || ` Expected one of: ${known.join(', ')}.`}`;
}
