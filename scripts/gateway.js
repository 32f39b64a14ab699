// Runs a command of the gateway in a checkout: runs the setup if needed, then the compiled binary. One process, so
// that signals reach it: package.json starts it by the shell's `exec`, for which exec.cmd stands in on Windows.
import { setUp } from './setup.js';

const parent = process.ppid;
setUp();
// npm was stopped meanwhile, and its shell did not pass the signal on.
if (process.env.npm_lifecycle_event && process.ppid !== parent) process.exit(1);
await import('../dist/main.js');
