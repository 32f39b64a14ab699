import { z } from 'zod';
import { generateEncryptionKey } from './encryption/keys.ts';
import { ConfigError } from './errors.ts';
import {
  apiToken,
  choice,
  databaseUrl,
  encryptionKeys,
  encryptionKeysFile,
  flag,
  networks,
  origins,
  path,
  publicUrl,
  text,
  wholeNumber,
} from './setting-values.ts';

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

/**
 * Every setting, an environment variable, with its description as the help and docs/configuration.md show it. Backticks mark
 * code. `otherwise` is a default that depends on something.
 */
const settings = z.object({
  HOST: text.prefault('127.0.0.1').describe('the address to listen on'),
  PORT: wholeNumber(0, 65_535).prefault('4000').describe('the port to listen on, 0 to 65535; with 0 the system chooses one'),
  PUBLIC_URL: publicUrl.optional().meta({
    otherwise: '`http://HOST:PORT`',
    description: 'the URL at which clients reach the gateway, and the issuer of embed tokens; the same for all instances',
  }),
  DATABASE_URL: databaseUrl
    .optional()
    .describe(
      'your own PostgreSQL server, version 15 or later, or an endpoint that leads to the primary of several; if unset, the bundled PostgreSQL runs with its data in `DATA_DIR`',
    ),
  ENCRYPTION_KEYS: encryptionKeys.optional().meta({
    otherwise: 'the file `DATA_DIR/encryption-keys`, created by the first start',
    description:
      'keys that encrypt user group tokens, 32 bytes each in base64; with `DATABASE_URL`, it or the next one is required',
  }),
  ENCRYPTION_KEYS_FILE: encryptionKeysFile.optional().describe('a file with these keys'),
  DB_NAMED_STATEMENTS: flag.prefault('true').describe('`false` behind a connection pooler in transaction mode'),
  DB_POOL_SIZE: wholeNumber(2, 1_000)
    .prefault('10')
    .describe('the most connections to the database that one process opens, 2 to 1000'),
  DATA_DIR: path.prefault('.data').describe('the data directory of the bundled PostgreSQL'),
  BOOTSTRAP_API_TOKEN: apiToken.optional().describe('an API token with scope `admin` that is accepted from the first start'),
  DRAIN_DELAY_SECONDS: wholeNumber(0, 300)
    .prefault('0')
    .describe('0 to 300: how long requests are still accepted after SIGTERM while `/readyz` responds with 503'),
  RATE_LIMIT: wholeNumber(0, 1_000_000)
    .prefault('0')
    .describe('0 to 1000000: how many requests each API token may send in 60 seconds, to all instances together; 0: any number'),
  CORS_ORIGINS: origins
    .optional()
    .describe(
      'the origins whose web pages may send requests, such as `https://app.example.com`, separated by commas; `*` for any; if unset, none',
    ),
  PLAYGROUND: flag.prefault('true').describe('`false` serves no playground'),
  CONSOLE: flag.prefault('true').describe('`false` serves no web console'),
  AUDIT_RETENTION_DAYS: wholeNumber(1, 36_500).prefault('365').describe('how many days the audit log keeps events, 1 to 36500'),
  WEBHOOKS_ALLOWED_NETWORKS: networks
    .optional()
    .describe(
      'the private networks that webhooks may reach, over `http` too, such as `10.1.0.0/16`, separated by commas; if unset, none',
    ),
  INTROSPECTION: flag.prefault('true').describe('`false` rejects GraphQL introspection and does not serve the schema'),
  PERSISTED_OPERATIONS: text
    .optional()
    .describe(
      'a file, or a folder of files, with the only GraphQL documents that are executed, read at the start; if unset, any document is',
    ),
  LOG_LEVEL: choice(logLevels)
    .prefault('info')
    .describe(`\`${logLevels.slice(0, -1).join('`, `')}\` or \`${logLevels.at(-1)}\``),
  LOG_FORMAT: choice(['pretty', 'json']).optional().meta({
    otherwise: '`pretty` on a terminal, else `json`',
    description: '`pretty` or `json`; the log goes to standard error',
  }),
});

/** The validated settings. Without `encryptionKeys`, those of the file in `dataDir` are used. */
export type Config = ReturnType<typeof readConfig>;

/**
 * Reads the settings from the environment; nothing else does.
 *
 * @param environment the process's environment. An empty value counts as not set.
 * @param isTerminal whether the log goes to a terminal, which decides the default of `LOG_FORMAT`.
 * @throws ConfigError that lists every invalid setting.
 */
export function readConfig(environment: NodeJS.ProcessEnv, isTerminal: boolean) {
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''));
  const { ENCRYPTION_KEYS: keys, ENCRYPTION_KEYS_FILE: file } = given;
  const { data, error } = settings.safeParse(keys && file ? { ...given, ENCRYPTION_KEYS_FILE: undefined } : given);
  const problems = error?.issues.map(({ path: [name], message }) => `${String(name)} ${message}`) ?? [];
  if (keys && file) problems.push('ENCRYPTION_KEYS and ENCRYPTION_KEYS_FILE are both set; set one of them');
  if (given['DATABASE_URL'] && !keys && !file) problems.push(keysRequired());
  if (!data || problems.length > 0) throw new ConfigError(problems);
  return {
    host: data.HOST,
    port: data.PORT,
    publicUrl: data.PUBLIC_URL,
    databaseUrl: data.DATABASE_URL,
    encryptionKeys: data.ENCRYPTION_KEYS ?? data.ENCRYPTION_KEYS_FILE,
    namedStatements: data.DB_NAMED_STATEMENTS,
    poolSize: data.DB_POOL_SIZE,
    dataDir: data.DATA_DIR,
    bootstrapApiToken: data.BOOTSTRAP_API_TOKEN,
    drainDelaySeconds: data.DRAIN_DELAY_SECONDS,
    rateLimit: data.RATE_LIMIT,
    corsOrigins: data.CORS_ORIGINS,
    playground: data.PLAYGROUND,
    console: data.CONSOLE,
    auditRetentionDays: data.AUDIT_RETENTION_DAYS,
    webhooksAllowedNetworks: data.WEBHOOKS_ALLOWED_NETWORKS,
    introspection: data.INTROSPECTION,
    persistedOperationsPath: data.PERSISTED_OPERATIONS,
    logLevel: data.LOG_LEVEL,
    logFormat: data.LOG_FORMAT ?? (isTerminal ? ('pretty' as const) : ('json' as const)),
  };
}

/** What is missing, with a key that was made for this message and is in use nowhere. */
const keysRequired = (): string =>
  'ENCRYPTION_KEYS must be set along with DATABASE_URL; it encrypts user group tokens in the database. If the database is new, use ' +
  `this key, and keep a copy of it, because tokens cannot be read without it:\n\n    ENCRYPTION_KEYS=${generateEncryptionKey()}\n`;

/** Each setting with its default, as text with backticks, for the help and the documentation. */
export function describeSettings(): { name: string; value: string; description: string }[] {
  const { properties = {} } = z.toJSONSchema(settings, { io: 'input', unrepresentable: 'any' });
  const described = Object.entries(properties as Record<string, Record<'default' | 'otherwise' | 'description', string>>);
  return described.map(([name, { default: text, otherwise = '', description }]) => {
    return { name, value: text === undefined ? otherwise : `\`${text}\``, description };
  });
}
