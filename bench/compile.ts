// Compiles competitors and load generator, for `npm run check`: their packages and types are not those of the gateway.
import { prepare } from './prepare.ts';

prepare((text) => process.stderr.write(`${text}\n`));
