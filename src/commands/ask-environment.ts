import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { UsageError } from './options.ts';

/** The environments that an API token can be created for, as the command line names them; `none` means untagged. */
export const environmentNames = ['Customer', 'Testing', 'none'] as const;

/** An environment as the command line names it. */
export type EnvironmentName = (typeof environmentNames)[number];

/** The choices, as messages list them. */
export const environmentChoices = 'Customer, Testing or none (untagged)';

/** Whether an environment has this name. */
export function isEnvironmentName(name: string): name is EnvironmentName {
  return (environmentNames as readonly string[]).includes(name);
}

const prompt = 'Environment (1 to 3, or its name): ';

const question = `Which environment should the API token have access to?

  1  Customer  groups of real customers
  2  Testing   groups for testing
  3  none      untagged groups, which belong to no environment

${prompt}`;

/**
 * Prompts for an environment until the input is one of the choices: a number, or a name in any case.
 *
 * @param output where the prompt goes; not standard output, which is for the result.
 * @throws UsageError when the input ends before a choice was made.
 */
export async function askEnvironment(input: Readable, output: Writable): Promise<EnvironmentName> {
  output.write(question);
  // Without its own line editing: the terminal has it, and Ctrl-C ends the process as usual.
  const lines = createInterface({ input, terminal: false });
  try {
    for await (const line of lines) {
      const input = line.trim().toLowerCase();
      const chosen = environmentNames.find((name, index) => input === name.toLowerCase() || input === String(index + 1));
      if (chosen) return chosen;
      output.write(`Not a valid choice. ${prompt}`);
    }
  } finally {
    lines.close(); // leaving the loop does not, and an open input keeps the process running
  }
  output.write('\n');
  throw new UsageError(
    `No environment was chosen, so no API token was created. Pass one with --environment: ${environmentChoices}.`,
  );
}
