// Imported before everything else.
import { setFlagsFromString } from 'node:v8';

// Some libraries read NODE_ENV when they are loaded, and unless it is `production`, do extra checks for each request. A value
// that is already set is kept.
process.env['NODE_ENV'] ??= 'production';

// What each of these buys: docs/decisions.md.

// V8 allocates objects in the old generation at once where earlier ones from the same place in the code lived long, as those of a
// request do under load. The collector then takes a tenth of the processor time of look-ups.
setFlagsFromString('--no-allocation-site-pretenuring');

// By default the old generation may grow to several times what is in use before it is collected, because machines have much
// memory. With 50 instead of 70, pages of lists take a fifth more time.
setFlagsFromString('--heap-growing-percent=70');

// Prisma's engine is WebAssembly. V8 compiles its often used functions a second time, with optimization, on several threads at
// once, and the C library keeps the memory that each of them took for that. Without, a request through Prisma takes as long.
setFlagsFromString('--no-wasm-tier-up');
setFlagsFromString('--no-wasm-dynamic-tiering');
