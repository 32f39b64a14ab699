import { ConfigError, describeSettings } from '../config.ts';
import { GatewayError } from '../domain/errors.ts';
import { readPackageVersion } from '../package-root.ts';
import { endWithoutReader, handleLostOutput } from './lost-output.ts';
import { asksForHelp } from './options.ts';
import { UsageError } from './usage-error.ts';

const help = `Usage: user-group-gateway COMMAND

  serve [--workers N]   start the gateway with N processes (default: 1)
  token                 create, list, rotate and revoke API tokens
  migrate               apply pending database migrations
  groups                import user groups from a file, and export them
  keys                  list the encryption keys, and rotate them
  doctor                check the settings, the database, the keys, the clock and the disk
  backup DIR            back up the bundled PostgreSQL, while gateways run or not
  restore DIR           restore a backup into an empty DATA_DIR
  docs-config           check the configuration files of documentation sites, or print their JSON Schema
  help, version         print this help, or the version; also --help, --version

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
    return await dispatch(args);
  } catch (error) {
    return report(error);
  }
}

/** Imports only the modules that the command needs, so that commands without a server or a database start fast. */
async function dispatch([command, ...args]: readonly string[]): Promise<number> {
  if ((command === 'serve' || command === 'migrate') && asksForHelp(args)) return print(help);
  switch (command) {
    case 'serve':
      return (await import('./serve.ts')).serve(args).finally(endWithoutReader);
    case 'token':
      return (await import('./token.ts')).token(args);
    case 'migrate':
      return (await import('./migrate.ts')).migrate(args);
    case 'groups':
      return (await import('./groups.ts')).groups(args);
    case 'keys':
      return (await import('./keys.ts')).keys(args);
    case 'doctor':
      return (await import('./doctor/doctor.ts')).doctor(args);
    case 'backup':
      return (await import('./backup.ts')).backup(args);
    case 'restore':
      return (await import('./restore.ts')).restore(args);
    case 'docs-config': {
      const { docsConfig } = await import('./docs-config.ts');
      const { stdin, stdout, stderr, env } = process;
      return docsConfig(args, { stdin, stdout, stderr, env, cwd: process.cwd() });
    }
    case 'help':
    case '--help':
    case '-h':
      return print(help);
    case 'version':
    case '--version':
      return print(`${readPackageVersion()}\n`);
    default:
      throw new UsageError(`${command ? `Unknown command "${command}".` : 'No command was given.'}\n\n${help}`);
  }
}

function print(text: string): number {
  process.stdout.write(text);
  return 0;
}

/**
 * Prints the message of an expected failure (a plain `Error` is one) or the stack of an unexpected one. Exit codes: 1 failure, 2
 * usage error.
 */
function report(error: unknown): number {
  const expected = error instanceof UsageError || error instanceof ConfigError || error instanceof GatewayError;
  const isText = error instanceof Error && (expected || error.constructor === Error);
  const text = error instanceof Error ? (isText ? error.message : error.stack) : undefined;
  process.stderr.write(`${text ?? String(error)}\n`);
  return error instanceof UsageError ? 2 : 1;
}
