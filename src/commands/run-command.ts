import { ConfigError, GatewayError } from '../errors.ts';
import { readPackageVersion } from '../package-root.ts';
import { type Setting, settings } from '../settings.ts';
import { escapeLines } from '../terminal-text.ts';
import { asksForHelp, suggest, UsageError } from './options.ts';
import { processIo } from './process-io.ts';
import { endWithoutReader } from './stop-request.ts';

const usage = `Usage: user-group-gateway COMMAND

  serve                 start the gateway
  token                 create, list, rotate and revoke API tokens
  webhooks              create, list and delete webhooks, show what was sent, and send it again
  migrate               apply pending database migrations
  groups                import user groups from a file, and export them
  keys                  list the encryption keys, and rotate them
  listen                forward events to a local URL, as webhooks would
  doctor                check the settings, the database, the keys, the clock and the disk
  backup DIR            back up the database, while gateways run or not
  restore DIR           restore a backup into an empty database
  docs-config           check the configuration files of documentation sites, or print their JSON Schema
  help, version         print this help, or the version; also --help, --version
`;

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

const help = `${usage}
Settings are environment variables:

${describeSettings()}`;

/**
 * Runs a command and prints what it says when it fails.
 *
 * @param args the name of the command and its arguments.
 * @returns the exit status: 0, or 1 for a failure, 2 for a usage error; a command may have others.
 */
export async function runCommand(args: readonly string[]): Promise<number> {
  handleLostOutput(args[0] === 'serve');
  try {
    rejectReplaced(args);
    return await dispatch(args);
  } catch (error) {
    return report(error);
  }
}

/** `migrate`: applies pending migrations, as every command that opens the database does first. */
async function migrate(args: string[]): Promise<number> {
  if (asksForHelp(args)) return print(help);
  if (args.length > 0) throw new UsageError('migrate takes no arguments.');
  const { withDatabase } = await import('./context.ts');
  return withDatabase(async () => print('The database is up to date.\n'));
}

/** Imports only the modules that the command needs, so that commands without a server or a database start fast. */
const commands: Readonly<Record<string, (args: string[]) => number | Promise<number>>> = {
  serve: async (args) => (asksForHelp(args) ? print(help) : (await import('./serve.ts')).serve(args).finally(endWithoutReader)),
  token: async (args) => (await import('./token.ts')).token(args, processIo),
  webhooks: async (args) => (await import('./webhooks.ts')).webhooks(args, processIo),
  migrate,
  groups: async (args) => (await import('./groups.ts')).groups(args, processIo),
  keys: async (args) => (await import('./keys.ts')).keys(args, processIo),
  listen: async (args) => (await import('./forward-events.ts')).listen(args, processIo),
  doctor: async (args) => (await import('./doctor/doctor.ts')).doctor(args, processIo.stdout),
  backup: async (args) => (await import('./backup.ts')).backup(args, processIo),
  restore: async (args) => (await import('./backup.ts')).restore(args, processIo),
  'docs-config': async (args) => (await import('./docs-config.ts')).docsConfig(args, processIo),
  help: () => print(help),
  version: () => print(`${readPackageVersion()}\n`),
};

const aliases: Readonly<Record<string, string>> = { '--help': 'help', '-h': 'help', '--version': 'version' };

/** Node.js replaces bytes that are not UTF-8, so that different names of files and tokens would become the same. */
function rejectReplaced(args: readonly string[]): void {
  const replaced = args.find((text) => text.includes('\ufffd'));
  if (replaced !== undefined)
    throw new UsageError(`The argument "${replaced}" is not UTF-8, or has the character U+FFFD. Use another name.`);
}

async function dispatch([given = '', ...args]: readonly string[]): Promise<number> {
  const name = Object.hasOwn(aliases, given) ? (aliases[given] as string) : given;
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (command) return command(args);
  const problem = given ? `Unknown command "${given}".${suggest(given, Object.keys(commands))}` : 'No command was given.';
  throw new UsageError(`${problem}\n\n${usage}\nThe command help also lists the settings.`);
}

function print(text: string): number {
  processIo.stdout.write(text);
  return 0;
}

/**
 * Prints the message of an expected failure (a plain `Error` is one) or the stack of an unexpected one. Exit codes: 1 failure, 2
 * usage error.
 */
function report(error: unknown): number {
  const expected = error instanceof UsageError || error instanceof ConfigError || error instanceof GatewayError;
  const isText = error instanceof Error && (expected || error.constructor === Error || 'remedy' in error);
  const text = error instanceof Error ? (isText ? error.message : error.stack) : undefined;
  processIo.stderr.write(`${escapeLines(text ?? String(error))}\n`);
  return error instanceof UsageError ? 2 : 1;
}

/**
 * Handles output that cannot be written, as when the program that reads it has exited (`… | head -1`) or the disk is full.
 * Node.js would end the process with a stack trace.
 *
 * A command runs to its end, and its exit status is at least 1, because its result is incomplete. A server keeps running: it does
 * not need a reader of its output.
 */
function handleLostOutput(isServer: boolean): void {
  const { stdout, stderr } = processIo;
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (isServer || error.code !== 'EPIPE') stderr.write(`Cannot write to standard output: ${error.message}\n`);
    if (!isServer) process.once('exit', () => (process.exitCode ||= 1));
  });
  stderr.on('error', () => {}); // nothing is left to report it on
}
