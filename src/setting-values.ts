import { readFileSync, statSync } from 'node:fs';
import ipaddr from 'ipaddr.js';
import { z } from 'zod';
import { InvalidDatabaseUrl, parseDatabaseUrl } from './database/database-url.ts';
import { maxKeyFileBytes, parseEncryptionKeys } from './encryption/keys.ts';
import { isOrigin } from './input.ts';
import { apiTokenProblem } from './tokens.ts';

/** What is wrong with a text that begins or ends with blanks, as one that was read from a file does. */
function blankProblem(value: string): string {
  const isEnd = /\s$/.test(value);
  const blank = /[\r\n]/.test(isEnd ? value.slice(value.trimEnd().length) : value.slice(0, 1)) ? 'line break' : 'space';
  return `${isEnd ? 'ends' : 'begins'} with a ${blank}; remove it`;
}

/** A text without blanks around it. */
export const text = z.string().refine((value) => value.trim() === value, {
  error: ({ input }) => blankProblem(String(input)),
  abort: true,
});

/** One of a few words. */
export function choice<const Choices extends readonly string[]>(choices: Choices) {
  const names = `${choices.slice(0, -1).join(', ')} or ${choices.at(-1)}`;
  return text.pipe(z.enum(choices, `must be ${names}`));
}

/** A setting that is on or off. */
export const flag = choice(['true', 'false']).transform((value) => value === 'true');

/** A whole number in decimal digits. */
export const wholeNumber = (min: number, max: number) =>
  text
    .refine((value) => /^\d{1,7}$/.test(value) && Number(value) >= min && Number(value) <= max, {
      error: `must be a whole number from ${min} to ${max}`,
      abort: true,
    })
    .transform(Number);

/** The path of a folder. */
export const path = text.refine((value) => !value.startsWith('~'), 'must not begin with "~", which only a shell expands');

/** A URL that clients may use as it is written: verifiers compare the text. */
export const publicUrl = text
  .refine(isPublicUrl, 'must be an http or https URL of at most 255 characters, without credentials, query and fragment')
  .transform((url) => url.replace(/\/$/, ''));

function isPublicUrl(value: string): boolean {
  if (!URL.canParse(value) || value.length > 255) return false;
  const { username, password } = new URL(value);
  // Written out: the parser also accepts `http:host`, removes control characters, and takes a backslash for `/`.
  return username + password === '' && /^https?:\/\/[^/]/i.test(value) && !/[\s\p{Cc}?#\\]|\/\/$/u.test(value);
}

/** The URL of a PostgreSQL server, in which no part of a password could be taken for another part. */
export const databaseUrl = text.superRefine((value, context) => {
  try {
    parseDatabaseUrl(value);
  } catch (error) {
    if (!(error instanceof InvalidDatabaseUrl)) throw error;
    context.addIssue(error.message);
  }
});

/** An API token that an operator chose. */
export const apiToken = text.superRefine((value, context) => {
  const problem = apiTokenProblem(value);
  if (problem) context.addIssue(problem);
});

/** Keys, separated by commas, spaces or line breaks. */
export const encryptionKeys = z.string().transform((value, context): readonly Buffer[] => {
  const { keys, problems } = parseEncryptionKeys(value);
  for (const problem of problems) context.addIssue(problem);
  return keys;
});

/** The name of a file with keys. No message repeats the name: it may be a key in the wrong setting. */
export const encryptionKeysFile = text
  .transform((file, context) => {
    const refuse = (message: string) => {
      context.addIssue(message);
      return z.NEVER;
    };
    try {
      // First, because reading a pipe or a device may never end.
      const found = statSync(file);
      if (!found.isFile()) return refuse('must name a regular file');
      if (found.size > maxKeyFileBytes) return refuse(`must name a file of at most ${maxKeyFileBytes} bytes`);
      return readFileSync(file, 'utf8');
    } catch (error) {
      return refuse(`cannot be read (${(error as NodeJS.ErrnoException).code})`);
    }
  })
  .pipe(encryptionKeys);

/** At most 100 texts, separated by commas. */
const list = (what: string) =>
  z
    .string()
    .transform((value) => value.split(',').map((each) => each.trim()))
    .refine((each) => each.length <= 100, { error: `must list at most 100 ${what}`, abort: true });

/** Origins as browsers send them, or `*` alone. */
export const origins = list('origins').superRefine((each, context) => {
  if (each.includes('*')) return void (each.length > 1 && context.addIssue('must be * alone or a list of origins'));
  if (!each.every(isOrigin))
    context.addIssue(
      'must list origins such as https://app.example.com, in lower case, without a path, a default port or a slash at the end',
    );
});

/** Networks as CIDRs. Not in other ways to write an address of version 4: `10/8` would be 0.0.0.10/8. */
export const networks = list('networks').superRefine((each, context) => {
  for (const cidr of each)
    if (!ipaddr.IPv4.isValidCIDRFourPartDecimal(cidr) && !ipaddr.IPv6.isValidCIDR(cidr))
      context.addIssue(`must list networks such as 10.1.0.0/16 or fd00::/8, separated by commas, not ${JSON.stringify(cidr)}`);
});
