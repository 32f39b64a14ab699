import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { descendants } from './processes.ts';

/** A place that secrets must not get to, and what is there. */
export interface Surface {
  readonly name: string;
  readonly content: Buffer;
}

/**
 * The forms in which a secret may leak: as it is, in a URL, in JSON, in base64, its bytes if it is itself base64, and most of it.
 */
function formsOf(secret: string): Buffer[] {
  const texts = [secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1), secret.slice(-24, -4)];
  const base64 = Buffer.from(secret).toString('base64').replace(/.?=*$/, '');
  const decoded = /^[\w+/]{43}=$/.test(secret) ? [Buffer.from(secret, 'base64')] : [];
  return [...new Set([...texts, base64])].map((text) => Buffer.from(text)).concat(decoded);
}

/**
 * Searches surfaces for secrets.
 *
 * @returns the name of the secret and of the surface, and what stands around it, for each that is found.
 */
export function findSecrets(secrets: Readonly<Record<string, string>>, surfaces: readonly Surface[]): string[] {
  const forms = Object.entries(secrets).map(([name, secret]) => [name, formsOf(secret)] as const);
  return surfaces.flatMap((surface) =>
    forms.flatMap(([name, all]) => {
      const at = all.map((form) => surface.content.indexOf(form)).find((index) => index >= 0);
      if (at === undefined) return [];
      return [`${name} in ${surface.name}: ${surface.content.subarray(Math.max(0, at - 80), at + 80).toString('latin1')}`];
    }),
  );
}

/** The files below a folder that were written since a time, except those with the given names. */
export function filesSince(folder: string, timeMs: number, except: readonly string[]): Surface[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).flatMap((name) => {
    const found = statSync(join(folder, name), { throwIfNoEntry: false });
    if (!found?.isFile() || found.mtimeMs < timeMs || except.includes(name)) return [];
    return [{ name, content: bytesOf(join(folder, name)) }];
  });
}

/**
 * A file's bytes. A running PostgreSQL removes files while others are read, such as its cache of the catalog: those contain
 * nothing.
 */
export function bytesOf(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return Buffer.alloc(0);
    throw error;
  }
}

/** The arguments and the environment of a process and of those below it. Empty where there is no /proc. */
export function processSurfaces(pid: number, parts: readonly ('cmdline' | 'environ')[]): Surface[] {
  if (!existsSync('/proc/self/stat')) return [];
  return descendants(pid).flatMap((id) =>
    parts.flatMap((part) => {
      try {
        return [{ name: `${part} of process ${id}`, content: readFileSync(`/proc/${id}/${part}`) }];
      } catch {
        return [];
      }
    }),
  );
}
