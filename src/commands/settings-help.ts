import { didYouMean } from '../docs-config/did-you-mean.ts';
import { type Setting, settings } from '../settings.ts';

/** The default of a setting as text with backticks, as the documentation shows it; empty if there is none. */
export function describeDefault({ default: value, defaultInWords }: Setting): string {
  return defaultInWords ?? (value === undefined ? '' : `\`${String(value)}\``);
}

/** The settings as lines of a command's help. */
export function describeSettings(): string {
  const all: readonly Setting[] = Object.values(settings);
  const width = Math.max(...all.map(({ name }) => name.length));
  const lines = all.map((setting) => {
    const value = describeDefault(setting);
    return `  ${setting.name.padEnd(width)}  ${setting.description}${value && ` (default: ${value})`}\n`;
  });
  return lines.join('').replaceAll('`', '');
}

/** What may be meant as a setting that is not set: one letter, case or underscores differ. With two, `PGPORT` is `PORT`. */
export function findMisspelled(environment: NodeJS.ProcessEnv): readonly string[] {
  const names: readonly string[] = Object.values(settings).map(({ name }) => name);
  return Object.keys(environment).flatMap((name) => {
    const isOther = environment[name] && !names.includes(name);
    const near = isOther && didYouMean(name, names, 1);
    return near && !environment[near] ? [`${name} is not a setting, and ${near} is not set`] : [];
  });
}
