import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { PrismaPg } from '@prisma/adapter-pg';
import { bindMigrationAwareSqlAdapterFactory, ColumnTypeEnum } from '@prisma/driver-adapter-utils';
import type { SchemaEngine } from '@prisma/schema-engine-wasm';
import type pg from 'pg';

const schemaFile = fileURLToPath(new URL('../prisma/schema.prisma', import.meta.url));

/**
 * The SQL that migrates a database to `prisma/schema.prisma`, according to Prisma's migration engine; empty if they agree.
 * Changes nothing.
 */
export async function schemaDifference(pool: pg.Pool): Promise<string> {
  const content = readFileSync(schemaFile, 'utf8');
  const engine = await loadEngine(content, pool);
  try {
    const { stdout } = await engine.diff({
      from: { tag: 'schemaDatasource', files: [{ path: schemaFile, content }], configDir: '.' },
      to: { tag: 'schemaDatamodel', files: [{ path: schemaFile, content }] },
      script: true,
      exitCode: null,
      filters: { externalTables: [], externalEnums: [] },
    });
    const script = stdout?.trim() ?? '';
    return script === '-- This is an empty migration.' ? '' : script;
  } finally {
    engine.free();
  }
}

/** The part of the standard global that is used here; the compiler's libraries declare it for browsers only. */
declare const WebAssembly: {
  instantiate(bytes: Uint8Array, imports: object): Promise<{ instance: { exports: Record<string, unknown> } }>;
};

// biome-ignore lint/suspicious/noExplicitAny: generated code without types
let loaded: Promise<any> | undefined;

/**
 * Loads the WebAssembly module by hand, because Node.js 20 cannot run the package's entry, which imports it. Once: it has state.
 */
async function load() {
  const glueUrl = pathToFileURL(createRequire(import.meta.url).resolve('@prisma/schema-engine-wasm/schema_engine_bg')).href;
  const glue = await import(glueUrl);
  const bytes = readFileSync(new URL('schema_engine_bg.wasm', glueUrl));
  const { instance } = await WebAssembly.instantiate(bytes, { './schema_engine_bg.js': glue });
  glue.__wbg_set_wasm(instance.exports);
  (instance.exports['__wbindgen_start'] as () => void)();
  return glue;
}

async function loadEngine(schema: string, pool: pg.Pool): Promise<SchemaEngine> {
  loaded ??= load();
  const glue = await loaded;
  const adapter = bindMigrationAwareSqlAdapterFactory(readingCharacters(pool));
  return glue.SchemaEngine.new({ datamodels: [[schemaFile, schema]] }, () => {}, adapter);
}

/** The OIDs of PostgreSQL's internal type "char" and of its array type. */
const charType = 18;
const charArrayType = 1002;

/**
 * The engine queries catalog columns of the internal type "char", which the adapter supports only as an array. So the columns are
 * declared as arrays before the adapter converts them, and as characters after it.
 */
function readingCharacters(pool: pg.Pool): PrismaPg {
  const query = async (config: pg.QueryConfig) => {
    const result = await pool.query(config);
    for (const field of result.fields) if (field.dataTypeID === charType) field.dataTypeID = charArrayType;
    return result;
  };
  const factory = new PrismaPg(Object.assign(Object.create(pool) as pg.Pool, { query }));
  const connect = factory.connect.bind(factory);
  factory.connect = async () => {
    const adapter = await connect();
    const queryRaw = adapter.queryRaw.bind(adapter);
    adapter.queryRaw = async (statement) => {
      const result = await queryRaw(statement);
      const { Character, CharacterArray } = ColumnTypeEnum;
      return { ...result, columnTypes: result.columnTypes.map((type) => (type === CharacterArray ? Character : type)) };
    };
    return adapter;
  };
  return factory;
}
