#!/usr/bin/env node
import { endAtSignals } from './first-process.ts';
import './runtime-flags.ts';

endAtSignals();

// Imported after the flags are set, which packages look at when they are loaded.
const { runCommand } = await import('./commands/run-command.ts');
process.exitCode = await runCommand(process.argv.slice(2));
