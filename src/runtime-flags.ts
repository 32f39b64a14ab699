// Imported before everything else.
import { setFlagsFromString } from 'node:v8';

// Some libraries read NODE_ENV when they are loaded, and unless it is `production`, do extra checks for each request. A value
// that is already set is kept.
process.env['NODE_ENV'] ??= 'production';

// Objects of a request belong in the young generation. Under load, V8 finds many requests in flight when it collects garbage,
// concludes that such objects live long, and allocates them in the old generation, where they retain everything that they refer
// to until a full collection. That took 60 MB of memory and the time to collect it.
setFlagsFromString('--no-allocation-site-pretenuring');

// By default the old generation may grow to several times what is in use before it is collected, because machines have much
// memory: after large requests 60 to 80 MB were kept that nothing referred to. With 50 instead of 70, pages of lists take a fifth
// more time.
setFlagsFromString('--heap-growing-percent=70');

// Prisma's engine is WebAssembly. V8 compiles its often used functions a second time, with optimization, on several threads at
// once, and the C library keeps the memory that each of them took for that: 45 to 100 MB. Without, a request through Prisma takes
// as long.
setFlagsFromString('--no-wasm-tier-up');
setFlagsFromString('--no-wasm-dynamic-tiering');
