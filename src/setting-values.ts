import { readFileSync, statSync } from 'node:fs';
import ipaddr from 'ipaddr.js';
import { z } from 'zod';
import { InvalidDatabaseUrl, parseDatabaseUrl } from './database/database-url.ts';
import { maxKeyFileBytes, parseEncryptionKeys } from './encryption/key-texts.ts';
import { isOrigin } from './origin.ts';

/** A setting that is on or off. */
export const flag = z.enum(['true', 'false'], 'must be true or false').transform((text) => text === 'true');

/** A whole number in decimal digits. */
export function wholeNumber(max: number, min = 0) {
  const message = `must be a whole number from ${min} to ${max}`;
  return z
    .string()
    .regex(/^\d{1,7}$/, message)
    .transform(Number)
    .refine((value) => value >= min && value <= max, message);
}

/** A fraction from 0 to 1 in decimal digits. */
export const fraction = z
  .string()
  .regex(/^(?:0|1|0?\.\d{1,9}|1\.0{1,9})$/, 'must be a number from 0 to 1, such as 0.01')
  .transform(Number);

/** The encryption keys in a text; each problem of them becomes an issue. */
export function toKeys(text: string, context: z.RefinementCtx): readonly Buffer[] {
  const { keys, problems } = parseEncryptionKeys(text);
  for (const message of problems) context.addIssue({ code: 'custom', message });
  return keys;
}

/** The most origins that may be listed. */
const maxOrigins = 100;

/** The origins in a text, as browsers send them, or `*` alone; each mistake becomes an issue. */
export function toOrigins(text: string, context: z.RefinementCtx): readonly string[] {
  const refuse = (message: string): void => context.addIssue({ code: 'custom', message });
  const origins = text.split(',', maxOrigins + 1).map((origin) => origin.trim());
  if (origins.length > maxOrigins) refuse(`must list at most ${maxOrigins} origins`);
  if (origins.includes('*') && origins.length > 1) refuse('must be * alone or a list of origins');
  else if (!origins.every((origin) => origin === '*' || isOrigin(origin))) {
    refuse(
      'must list origins such as https://app.example.com, in lower case, without a path, a default port or a slash at the end',
    );
  }
  return origins;
}

/** The most networks that may be listed. */
const maxNetworks = 100;

/** The networks in a text, as CIDRs; each mistake becomes an issue. */
export function toNetworks(text: string, context: z.RefinementCtx): readonly string[] {
  const cidrs = text.split(',', maxNetworks + 1).map((cidr) => cidr.trim());
  const refuse = (message: string): void => context.addIssue({ code: 'custom', message });
  if (cidrs.length > maxNetworks) refuse(`must list at most ${maxNetworks} networks`);
  // Not the other ways to write an address of version 4: `10/8` would be 0.0.0.10/8.
  const invalid = cidrs.filter((cidr) => !ipaddr.IPv4.isValidCIDRFourPartDecimal(cidr) && !ipaddr.IPv6.isValidCIDR(cidr));
  for (const cidr of invalid)
    refuse(`must list networks such as 10.1.0.0/16 or fd00::/8, separated by commas, not ${JSON.stringify(cidr)}`);
  return cidrs;
}

/** The text of a file. The problem does not repeat its name: a key in its place must not be shown. */
export function readText(file: string, context: z.RefinementCtx): string | undefined {
  const refuse = (message: string): undefined => void context.addIssue({ code: 'custom', message });
  try {
    // First, because reading a pipe or a device may never end.
    const found = statSync(file);
    if (!found.isFile()) return refuse('must name a regular file');
    if (found.size > maxKeyFileBytes) return refuse(`must name a file of at most ${maxKeyFileBytes} bytes`);
    return readFileSync(file, 'utf8');
  } catch (error) {
    return refuse(`cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
}

/** Whether it is a URL that clients may use as it is written. */
export function isPublicUrl(text: string): boolean {
  if (!URL.canParse(text) || text.length > 255) return false;
  const { username, password } = new URL(text);
  // Written out: the parser also accepts `http:host`, removes control characters, and takes a backslash for `/`; verifiers
  // compare the text.
  const isPlain = /^https?:\/\/[^/]/i.test(text) && !/[\s\p{Cc}?#\\]|\/\/$/u.test(text);
  return username + password === '' && isPlain;
}

/**
 * Reports a URL that cannot be used, or in which a part of a password could be taken for a host, a port or a path, which messages
 * show.
 */
export function checkDatabaseUrl(text: string, context: z.RefinementCtx): void {
  try {
    parseDatabaseUrl(text);
  } catch (error) {
    if (!(error instanceof InvalidDatabaseUrl)) throw error;
    context.addIssue({ code: 'custom', message: error.message });
  }
}
