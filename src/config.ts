import { z } from 'zod';
import { apiTokenProblem } from './domain/tokens.ts';

/** The validated settings. */
export interface Config {
  readonly host: string;
  /** 0 to 65535; 0 lets the system choose. */
  readonly port: number;
  /** A PostgreSQL to connect to; none means the embedded one in {@link Config.dataDir}. */
  readonly databaseUrl: string | undefined;
  /** Whether database connections prepare statements under names; off behind a pooler in transaction mode. */
  readonly namedStatements: boolean;
  /** The folder of the embedded PostgreSQL. */
  readonly dataDir: string;
  /** An API token with scope `admin` that is accepted from the first start. */
  readonly bootstrapApiToken: string | undefined;
  /** How long `/readyz` responds with 503 before the listener closes, in seconds: 0 to 300. */
  readonly drainDelaySeconds: number;
  /** Whether the GraphQL schema can be read through introspection. */
  readonly introspection: boolean;
  /** The file with the only GraphQL documents that are executed; none means any document. */
  readonly persistedOperationsFile: string | undefined;
  readonly logLevel: (typeof logLevels)[number];
  readonly logFormat: 'pretty' | 'json';
}

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

/** The environment variables; an empty value counts as not set. */
const settings = z.object({
  HOST: z.string().default('127.0.0.1'),
  PORT: z
    .string()
    .regex(/^\d{1,5}$/, 'must be a whole number from 0 to 65535')
    .transform(Number)
    .refine((port) => port <= 65535, 'must be a whole number from 0 to 65535')
    .default(4000),
  DATABASE_URL: z
    .string()
    .refine(isPostgresUrl, 'must be a PostgreSQL URL such as postgresql://user:password@localhost:5432/gateway')
    .optional(),
  DB_NAMED_STATEMENTS: z
    .enum(['true', 'false'], 'must be true or false')
    .default('true')
    .transform((text) => text === 'true'),
  DATA_DIR: z.string().default('.data'),
  BOOTSTRAP_API_TOKEN: z
    .string()
    .superRefine((secret, context) => {
      const problem = apiTokenProblem(secret);
      if (problem) context.addIssue({ code: 'custom', message: problem });
    })
    .optional(),
  DRAIN_DELAY_SECONDS: z
    .string()
    .regex(/^\d{1,3}$/, 'must be a whole number from 0 to 300')
    .transform(Number)
    .refine((seconds) => seconds <= 300, 'must be a whole number from 0 to 300')
    .default(0),
  INTROSPECTION: z
    .enum(['true', 'false'], 'must be true or false')
    .default('true')
    .transform((text) => text === 'true'),
  PERSISTED_OPERATIONS: z.string().optional(),
  LOG_LEVEL: z.enum(logLevels, `must be one of ${logLevels.join(', ')}`).default('info'),
  LOG_FORMAT: z.enum(['pretty', 'json'], 'must be pretty or json').optional(),
});

/** Invalid settings, one line each. The message never contains a value that may be secret. */
export class ConfigError extends Error {
  constructor(problems: string[]) {
    super(`Invalid settings; nothing was started:\n${problems.map((line) => `  ${line}`).join('\n')}`);
    this.name = 'ConfigError';
  }
}

/**
 * Reads the settings from the environment; nothing else does.
 *
 * @param environment the process's environment.
 * @param isTerminal whether the log goes to a terminal, which decides the default of `LOG_FORMAT`.
 * @throws ConfigError that lists every invalid setting.
 */
export function readConfig(environment: NodeJS.ProcessEnv, isTerminal: boolean): Config {
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''));
  const { data, error } = settings.safeParse(given);
  if (error) throw new ConfigError(error.issues.map(({ path, message }) => `${path.join('.')} ${message}`));
  return {
    host: data.HOST,
    port: data.PORT,
    databaseUrl: data.DATABASE_URL,
    namedStatements: data.DB_NAMED_STATEMENTS,
    dataDir: data.DATA_DIR,
    bootstrapApiToken: data.BOOTSTRAP_API_TOKEN,
    drainDelaySeconds: data.DRAIN_DELAY_SECONDS,
    introspection: data.INTROSPECTION,
    persistedOperationsFile: data.PERSISTED_OPERATIONS,
    logLevel: data.LOG_LEVEL,
    logFormat: data.LOG_FORMAT ?? (isTerminal ? 'pretty' : 'json'),
  };
}

function isPostgresUrl(text: string): boolean {
  return URL.canParse(text) && ['postgres:', 'postgresql:'].includes(new URL(text).protocol);
}
