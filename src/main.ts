#!/usr/bin/env node
import './runtime-flags.ts';

// Imported after the flags are set, which packages look at when they are loaded.
const { runCommand } = await import('./commands/run-command.ts');
process.exitCode = await runCommand(process.argv.slice(2));
