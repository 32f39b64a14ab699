// Runs the command as a process of its own, without the rest of the gateway.
import { docsConfig } from '../../src/commands/docs-config.ts';
import { handleLostOutput } from '../../src/commands/lost-output.ts';

handleLostOutput(false);
const { stdin, stdout, stderr, env } = process;
process.exitCode = await docsConfig(process.argv.slice(2), { stdin, stdout, stderr, env, cwd: process.cwd() });
