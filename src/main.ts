#!/usr/bin/env node
import { isatty } from 'node:tty';
import { exitCodeOf, stopSignals } from './commands/stop-request.ts';
import './runtime-flags.ts';

// The system ignores signals that the first process of a container does not handle: it could not be stopped while it loads its
// modules. Later something else handles them.
for (const signal of process.pid === 1 ? stopSignals : []) {
  process.on(signal, () => {
    if (process.listenerCount(signal) === 1) process.exit(exitCodeOf(signal));
  });
}

// Programs are often told to open their log again by them. Node.js would open its debugger, to all users of this machine, or end.
for (const signal of ['SIGUSR1', 'SIGUSR2']) process.on(signal, () => {});

// Node.js aborts, with a core dump, when it ends and cannot restore the settings of a terminal that was closed.
const terminals = [0, 1, 2].filter(isatty);
process.once('exit', () => {
  if (terminals.every(isatty)) return;
  process.removeAllListeners('SIGHUP');
  process.kill(process.pid, 'SIGHUP');
});

// Imported after the flags are set, which packages look at when they are loaded.
const { runCommand } = await import('./commands/run-command.ts');
process.exitCode = await runCommand(process.argv.slice(2));
