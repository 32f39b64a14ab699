#!/usr/bin/env node
import './runtime-flags.ts';
import { UsageError } from './commands/usage-error.ts';
import { ConfigError } from './config.ts';
import { GatewayError } from './domain/errors.ts';

const help = `Usage: user-group-gateway COMMAND

  serve [--workers N]   take requests, in N processes (default: 1)
  token                 create, list and revoke API tokens
  migrate               bring the database up to date
  docs-config           check configuration files of documentation sites, or print their JSON Schema

The settings are environment variables: HOST, PORT, DATABASE_URL, DATA_DIR, BOOTSTRAP_API_TOKEN, DRAIN_DELAY_SECONDS,
DB_NAMED_STATEMENTS, INTROSPECTION, LOG_LEVEL, LOG_FORMAT.
`;

/** Loads only what the command needs, so that those without a server and a database answer at once. */
async function main([command, ...args]: string[]): Promise<number> {
  if ((command === 'serve' || command === 'migrate') && args.includes('--help')) return print(help);
  switch (command) {
    case 'serve':
      return (await import('./commands/serve.ts')).serve(args);
    case 'token':
      return (await import('./commands/token.ts')).token(args);
    case 'migrate':
      return (await import('./commands/migrate.ts')).migrate(args);
    case 'docs-config': {
      const { docsConfig } = await import('./commands/docs-config.ts');
      const { stdin, stdout, stderr, env } = process;
      return docsConfig(args, { stdin, stdout, stderr, env, cwd: process.cwd() });
    }
    case 'help':
    case '--help':
      return print(help);
    default:
      throw new UsageError(`${command ? `There is no command "${command}".` : 'Which command?'}\n\n${help}`);
  }
}

function print(text: string): number {
  process.stdout.write(text);
  return 0;
}

/** Expected failures, which are made as plain `Error`s, are a text; the unforeseen is shown whole, for a report. Exit codes: 1 it failed, 2 it was called wrongly. */
function report(error: unknown): number {
  const expected = error instanceof UsageError || error instanceof ConfigError || error instanceof GatewayError;
  const isText = error instanceof Error && (expected || error.constructor === Error);
  const text = error instanceof Error ? (isText ? error.message : error.stack) : undefined;
  process.stderr.write(`${text ?? String(error)}\n`);
  return error instanceof UsageError ? 2 : 1;
}

main(process.argv.slice(2)).then(
  (code) => {
    process.exitCode = code;
  },
  (error) => {
    process.exitCode = report(error);
  },
);
