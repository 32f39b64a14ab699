import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { UsageError } from './usage-error.ts';

/** The environments that an API token can be made for, as the command line names them; `none` means untagged. */
export const environmentNames = ['Customer', 'Testing', 'none'] as const;

/** An environment as the command line names it. */
export type EnvironmentName = (typeof environmentNames)[number];

/** The choices, as texts list them. */
export const environmentChoices = 'Customer, Testing or none (untagged)';

/** Whether an environment has this name. */
export function isEnvironmentName(name: string): name is EnvironmentName {
  return (environmentNames as readonly string[]).includes(name);
}

const prompt = 'Environment (1 to 3, or its name): ';

const question = `Which environment does the API token work in?

  1  Customer  groups of real customers
  2  Testing   groups made for trying things out
  3  none      untagged groups, which belong to no environment

${prompt}`;

/**
 * Asks a person for an environment, again until the answer is one of the choices: a number, or a name in any case.
 *
 * @param output what the person reads; not the standard output, which is the result's.
 * @throws UsageError when the input ends before there is an answer.
 */
export async function askEnvironment(input: Readable, output: Writable): Promise<EnvironmentName> {
  output.write(question);
  // Without line editing of its own: the terminal has it, and Ctrl-C ends the process as always.
  const lines = createInterface({ input, terminal: false });
  try {
    for await (const line of lines) {
      const answer = line.trim().toLowerCase();
      const chosen = environmentNames.find((name, index) => answer === name.toLowerCase() || answer === String(index + 1));
      if (chosen) return chosen;
      output.write(`Not one of the choices. ${prompt}`);
    }
  } finally {
    lines.close(); // leaving the loop does not, and an input that is still read keeps the process from ending
  }
  output.write('\n');
  throw new UsageError(
    `No environment was chosen, so no API token was made. Give one with --environment: ${environmentChoices}.`,
  );
}
