#!/usr/bin/env node
import { exitCodeOf, stopSignals } from './commands/stop-request.ts';
import './runtime-flags.ts';

// The system ignores signals that the first process of a container does not handle: it could not be stopped while it loads its
// modules. Later something else handles them.
for (const signal of process.pid === 1 ? stopSignals : []) {
  process.on(signal, () => {
    if (process.listenerCount(signal) === 1) process.exit(exitCodeOf(signal));
  });
}

// Imported after the flags are set, which packages look at when they are loaded.
const { runCommand } = await import('./commands/run-command.ts');
process.exitCode = await runCommand(process.argv.slice(2));
