import { parseArgs } from 'node:util';
import { print } from './drill.ts';

/** A row that can be chosen by its name. */
interface NamedRow {
  readonly name: string;
  readonly summary?: string;
}

/** The lines about the options of {@link chooseRows} in a drill's `--help`. */
export const rowOptionsHelp = `  --only NAME       run the rows whose name starts with NAME; may be repeated
  --list            print the names of the rows
`;

/**
 * Parses `--only` and `--list`.
 *
 * @param args the arguments after the drill's name, without options of its own.
 * @returns the rows to run, in the same order; undefined after `--list`, which prints them.
 * @throws Error when a name matches no row, or on an unknown option.
 */
export function chooseRows<Row extends NamedRow>(rows: readonly Row[], args: string[]): readonly Row[] | undefined {
  const options = { only: { type: 'string', multiple: true }, list: { type: 'boolean' } } as const;
  const { only, list } = parseArgs({ args, options }).values;
  const unknown = (only ?? []).filter((start) => !rows.some(({ name }) => name.startsWith(start)));
  if (unknown.length > 0) throw new Error(`Unknown row: ${unknown.join(', ')}. --list prints the names.`);
  const chosen = only ? rows.filter(({ name }) => only.some((start) => name.startsWith(start))) : rows;
  if (!list) return chosen;
  print(chosen.map(({ name, summary = '' }) => `${name.padEnd(24)}${summary}`.trimEnd()).join('\n'));
  return undefined;
}
