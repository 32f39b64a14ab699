import { z } from 'zod';
import { generateEncryptionKey } from './encryption/key-texts.ts';
import { ConfigError } from './errors.ts';
import {
  checkDatabaseUrl,
  flag,
  fraction,
  isPublicUrl,
  readText,
  toKeys,
  toNetworks,
  toOrigins,
  wholeNumber,
} from './setting-values.ts';
import { apiTokenProblem } from './tokens.ts';

/** A setting: an environment variable. */
export interface Setting {
  /** The name of the environment variable. */
  readonly name: string;
  /** Checks and converts its text. */
  readonly schema: z.ZodType<unknown, string>;
  /** The text that applies if the variable is not set; a setting without one is then `undefined`. */
  readonly default?: string | ((isTerminal: boolean) => string);
  /** What it is, in one sentence without its period, as the help and docs/configuration.md show it. Backticks mark code. */
  readonly description: string;
  /** The default in words, where it depends on something. */
  readonly defaultInWords?: string;
}

/** A command such as `keys rotate` holds one connection while it uses another. */
const minPoolSize = 2;

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

/**
 * Every setting, by its name in {@link Config}. The help follows from this table; a test compares docs/configuration.md with it.
 */
export const settings = {
  host: {
    name: 'HOST',
    schema: z.string(),
    default: '127.0.0.1',
    description: 'the address to listen on',
  },
  port: {
    name: 'PORT',
    schema: wholeNumber(65_535),
    default: '4000',
    description: 'the port to listen on, 0 to 65535; with 0 the system chooses one',
  },
  publicUrl: {
    name: 'PUBLIC_URL',
    schema: z
      .string()
      .refine(isPublicUrl, 'must be an http or https URL of at most 255 characters, without credentials, query and fragment')
      .transform((url) => url.replace(/\/$/, '')),
    defaultInWords: '`http://HOST:PORT`',
    description: 'the URL at which clients reach the gateway, and the issuer of embed tokens; the same for all instances',
  },
  databaseUrl: {
    name: 'DATABASE_URL',
    schema: z.string().superRefine(checkDatabaseUrl),
    description:
      'your own PostgreSQL server, version 15 or later, or an endpoint that leads to the primary of several; if unset, the bundled PostgreSQL runs with its data in `DATA_DIR`',
  },
  encryptionKeys: {
    name: 'ENCRYPTION_KEYS',
    schema: z.string().transform(toKeys),
    defaultInWords: 'the file `DATA_DIR/encryption-keys`, created by the first start',
    description:
      'keys that encrypt user group tokens, 32 bytes each in base64; with `DATABASE_URL`, it or the next one is required',
  },
  encryptionKeysFile: {
    name: 'ENCRYPTION_KEYS_FILE',
    schema: z.string().transform((file, context) => {
      const text = readText(file, context);
      return text === undefined ? z.NEVER : toKeys(text, context);
    }),
    description: 'a file with these keys',
  },
  namedStatements: {
    name: 'DB_NAMED_STATEMENTS',
    schema: flag,
    default: 'true',
    description: '`false` behind a connection pooler in transaction mode',
  },
  poolSize: {
    name: 'DB_POOL_SIZE',
    schema: wholeNumber(1_000, minPoolSize),
    default: '10',
    description: `the most connections to the database that one process opens, ${minPoolSize} to 1000`,
  },
  dataDir: {
    name: 'DATA_DIR',
    // Node.js has this character in place of each byte that is not UTF-8.
    schema: z
      .string()
      .refine((path) => !path.includes('\ufffd'), 'must be UTF-8, without the character U+FFFD')
      .refine((path) => !path.startsWith('~'), 'must not begin with "~", which only a shell expands'),
    default: '.data',
    description: 'the data directory of the bundled PostgreSQL',
  },
  bootstrapApiToken: {
    name: 'BOOTSTRAP_API_TOKEN',
    schema: z.string().superRefine((secret, context) => {
      const problem = apiTokenProblem(secret);
      if (problem) context.addIssue({ code: 'custom', message: problem });
    }),
    description: 'an API token with scope `admin` that is accepted from the first start',
  },
  drainDelaySeconds: {
    name: 'DRAIN_DELAY_SECONDS',
    schema: wholeNumber(300),
    default: '0',
    description: '0 to 300: how long requests are still accepted after SIGTERM while `/readyz` responds with 503',
  },
  rateLimit: {
    name: 'RATE_LIMIT',
    schema: wholeNumber(1_000_000),
    default: '0',
    description:
      '0 to 1000000: how many requests each API token may send in 60 seconds, to all instances together; 0: any number',
  },
  corsOrigins: {
    name: 'CORS_ORIGINS',
    schema: z.string().transform(toOrigins),
    description:
      'the origins whose web pages may send requests, such as `https://app.example.com`, separated by commas; `*` for any; if unset, none',
  },
  playground: {
    name: 'PLAYGROUND',
    schema: flag,
    default: 'true',
    description: '`false` serves no playground',
  },
  console: {
    name: 'CONSOLE',
    schema: flag,
    default: 'true',
    description: '`false` serves no web console',
  },
  auditRetentionDays: {
    name: 'AUDIT_RETENTION_DAYS',
    schema: wholeNumber(36_500, 1),
    default: '365',
    description: 'how many days the audit log keeps events, 1 to 36500',
  },
  webhooksAllowedNetworks: {
    name: 'WEBHOOKS_ALLOWED_NETWORKS',
    schema: z.string().transform(toNetworks),
    description:
      'the private networks that webhooks may reach, over `http` too, such as `10.1.0.0/16`, separated by commas; if unset, none',
  },
  introspection: {
    name: 'INTROSPECTION',
    schema: flag,
    default: 'true',
    description: '`false` rejects GraphQL introspection and does not serve the schema',
  },
  persistedOperationsPath: {
    name: 'PERSISTED_OPERATIONS',
    schema: z.string(),
    description:
      'a file, or a folder of files, with the only GraphQL documents that are executed, read at the start; if unset, any document is',
  },
  logLevel: {
    name: 'LOG_LEVEL',
    schema: z.enum(logLevels, `must be one of ${logLevels.join(', ')}`),
    default: 'info',
    description: `\`${logLevels.slice(0, -1).join('`, `')}\` or \`${logLevels.at(-1)}\``,
  },
  logFormat: {
    name: 'LOG_FORMAT',
    schema: z.enum(['pretty', 'json'], 'must be pretty or json'),
    default: (isTerminal: boolean) => (isTerminal ? 'pretty' : 'json'),
    defaultInWords: '`pretty` on a terminal, else `json`',
    description: '`pretty` or `json`; the log goes to standard error',
  },
  logRequests: {
    name: 'LOG_REQUESTS',
    schema: fraction,
    default: '0',
    description: '0 to 1: the fraction of requests that get a line in the log',
  },
} as const satisfies Record<string, Setting>;

type Settings = typeof settings;

/** The values of the settings. */
type Values = {
  readonly [Key in keyof Settings]:
    | z.output<Settings[Key]['schema']>
    | (Settings[Key] extends { readonly default: unknown } ? never : undefined);
};

/** The validated settings. Of `encryptionKeys`, the first one encrypts; without any, those of the file in `dataDir` do. */
export type Config = Omit<Values, 'encryptionKeysFile'>;

/**
 * Reads the settings from the environment; nothing else does.
 *
 * @param environment the process's environment. An empty value counts as not set.
 * @param isTerminal whether the log goes to a terminal, which decides the default of `LOG_FORMAT`.
 * @throws ConfigError that lists every invalid setting.
 */
export function readConfig(environment: NodeJS.ProcessEnv, isTerminal: boolean): Config {
  const problems: string[] = [];
  const { ENCRYPTION_KEYS: keys, ENCRYPTION_KEYS_FILE: file } = environment;
  // The combination is reported below, whatever the file has.
  const given = keys && file ? { ...environment, ENCRYPTION_KEYS_FILE: '' } : environment;
  const read = ([key, setting]: [string, Setting]): [string, unknown] => {
    const text = given[setting.name] || defaultOf(setting, isTerminal);
    if (text === undefined) return [key, undefined];
    const { data, error } = setting.schema.safeParse(text);
    problems.push(...(error?.issues.map(({ message }) => `${setting.name} ${message}`) ?? []));
    return [key, data];
  };
  const { encryptionKeysFile, ...values } = Object.fromEntries(Object.entries(settings).map(read)) as Values;
  if (keys && file) problems.push('ENCRYPTION_KEYS and ENCRYPTION_KEYS_FILE are both set; set one of them');
  if (environment['DATABASE_URL'] && !keys && !file) problems.push(keysRequired());
  if (problems.length > 0) throw new ConfigError(problems);
  return { ...values, encryptionKeys: values.encryptionKeys ?? encryptionKeysFile };
}

function defaultOf(setting: Setting, isTerminal: boolean): string | undefined {
  return typeof setting.default === 'function' ? setting.default(isTerminal) : setting.default;
}

/** What is missing, with a key that was made for this message and is in use nowhere. */
const keysRequired = (): string =>
  'ENCRYPTION_KEYS must be set along with DATABASE_URL; it encrypts user group tokens in the database. If the database is new, use ' +
  `this key, and keep a copy of it, because tokens cannot be read without it:\n\n    ENCRYPTION_KEYS=${generateEncryptionKey()}\n`;
