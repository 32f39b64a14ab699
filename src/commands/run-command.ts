import { Command, CommanderError } from 'commander';
import { ConfigError, GatewayError, UsageError } from '../errors.ts';
import { readPackageVersion } from '../package-root.ts';
import { describeSettings } from '../settings.ts';
import { escapeLines } from '../terminal-text.ts';
import { exitCodeOf, Stopped } from './options.ts';

type Define = (command: Command) => void;

/** What each command does in a few words, and its definition, which is loaded only when the command is run. */
const commands: Readonly<Record<string, readonly [summary: string, load: () => Promise<Define>]>> = {
  serve: ['start the gateway', async () => (await import('./serve.ts')).define],
  token: ['create, list, rotate and revoke API tokens', async () => (await import('./token.ts')).define],
  webhooks: [
    'create, list and delete webhooks, show what was sent, and send it again',
    async () => (await import('./webhooks.ts')).define,
  ],
  migrate: ['apply pending database migrations', async () => (command) => void command.action(migrate)],
  groups: ['import user groups from a file, and export them', async () => (await import('./groups.ts')).define],
  keys: ['list the encryption keys and the signing keys, and rotate them', async () => (await import('./keys.ts')).define],
  listen: ['forward events to a local URL, as webhooks would', async () => (await import('./forward-events.ts')).define],
  doctor: [
    'check the settings, the database, the keys, the clock and the disk',
    async () => (await import('./doctor.ts')).define,
  ],
  backup: ['back up the database, while gateways run or not', async () => (await import('./backup.ts')).defineBackup],
  restore: ['restore a backup into an empty database', async () => (await import('./backup.ts')).defineRestore],
  'docs-config': ['check mint.json files of documentation sites', async () => (await import('./docs-config.ts')).define],
};

/** Runs a command, prints what it says when it fails, and sets the exit status: 1 for a failure, 2 for invalid arguments. */
export async function runCommand(args: readonly string[]): Promise<void> {
  // Without a reader, a command runs to its end, but its result is incomplete. A gateway goes on without a reader of its log.
  process.stdout.on('error', () => {
    process.exitCode ||= 1;
  });
  process.stderr.on('error', () => {});
  try {
    const [name, ...rest] = args;
    await (await defineProgram(name === 'help' ? rest[0] : name)).parseAsync(args, { from: 'user' });
  } catch (error) {
    report(error);
  }
}

async function defineProgram(chosen: string | undefined): Promise<Command> {
  const program = new Command('user-group-gateway').version(readPackageVersion()).exitOverride();
  for (const [name, [summary, load]] of Object.entries(commands)) {
    const command = program.command(name).description(summary);
    if (name === chosen) (await load())(command);
  }
  const settings = describeSettings().map(({ name, value, description }) => {
    return `  ${name.padEnd(27)}${description}${value && ` (default: ${value})`}`;
  });
  return program.addHelpText('after', `\nSettings are environment variables:\n\n${settings.join('\n').replaceAll('`', '')}`);
}

/** `migrate`: every command that changes the database applies pending migrations first. */
async function migrate(): Promise<void> {
  const { withDatabase } = await import('./context.ts');
  await withDatabase('create', async () => void process.stdout.write('The database is up to date.\n'));
}

function report(error: unknown): void {
  if (error instanceof CommanderError) {
    // Commander has printed the message, or the help.
    process.exitCode = error.exitCode === 0 ? 0 : 2;
    return;
  }
  // A plain `Error` is a message for the operator; all others are defects.
  const isExpected =
    error instanceof Error &&
    ([UsageError, ConfigError, GatewayError, Stopped].some((type) => error instanceof type) || error.constructor === Error);
  process.stderr.write(
    `${escapeLines(isExpected ? error.message : error instanceof Error ? `${error.stack}` : String(error))}\n`,
  );
  process.exitCode = error instanceof Stopped ? exitCodeOf(error.by) : error instanceof UsageError ? 2 : 1;
}
