// Runs a command of the gateway in a checkout: sets up what is missing, then becomes the compiled binary. One process, so
// that signals reach it.
import { setUp } from './setup.js';

setUp();
await import('../dist/main.js');
