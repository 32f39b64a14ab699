#!/usr/bin/env node
// Everything else is imported below: an older Node.js could not load it, and packages look at the runtime flags when they load.
import { readFileSync } from 'node:fs';

// Programs are often told to open their log again by these signals. Node.js would open its debugger, or end.
for (const signal of ['SIGUSR1', 'SIGUSR2']) process.on(signal, () => {});

if (isSupported()) {
  await import('./runtime-flags.ts');
  const { runCommand } = await import('./commands/run-command.ts');
  await runCommand(process.argv.slice(2));
}

/** Whether this version of Node.js can run the gateway; else a line says what to do. */
function isSupported(): boolean {
  const { engines } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
    engines: { node: string };
  };
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const ranges = engines.node.split('||').map((range) => {
    const [from = 0, least = 0] = range.match(/\d+/g)?.map(Number) ?? [];
    return range.includes('>=') ? major > from || (major === from && minor >= least) : major === from && minor >= least;
  });
  if (ranges.includes(true)) return true;
  process.stderr.write(
    `Node.js v${process.versions.node} cannot run the gateway, which needs ${engines.node}. Install one of these and try again.\n`,
  );
  process.exitCode = 1;
  return false;
}
