// Runs a command of the gateway in a checkout: runs the setup if needed, then the compiled binary. A single process, so
// that signals reach it: package.json starts it with the shell's `exec`, which exec.cmd replaces on Windows.
import { setUp } from './setup.js';

const parent = process.ppid;
setUp();
// npm was stopped in the meantime, and its shell did not forward the signal.
if (process.env.npm_lifecycle_event && process.ppid !== parent) process.exit(1);
// npm starts scripts in the folder of package.json, wherever it was started itself.
const { INIT_CWD = process.cwd() } = process.env;
if (INIT_CWD !== process.cwd())
  process.stderr.write(
    `Relative paths, such as of files to read or write, begin in ${process.cwd().replace(/[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/gu, '\ufffd')}.\n`,
  );
// Without `--`, npm takes options for itself, and passes the rest on.
const options =
  'after allow-nested-groups description disable dry-run enable environment event expires-in format forward-to json keys limit ' +
  'name on-existing output overlap rate-limit report scope secret severity status strict token type url without-keys';
// A scope of packages may be in a configuration file of npm.
const taken = options.split(' ').find((name) => !(process.env[`npm_config_${name.replaceAll('-', '_')}`] ?? '@').startsWith('@'));
if (taken) {
  process.stderr.write(
    `npm has taken --${taken} for itself, or it is in an .npmrc. Write -- first: npm run -s gateway -- COMMAND --${taken} …\n`,
  );
  process.exit(2);
}
await import('../dist/main.js');
