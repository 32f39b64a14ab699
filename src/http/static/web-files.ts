import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { GatewayError } from '../../domain/errors.ts';
import { inUtf8, mediaTypes } from '../media-types.ts';
import type { HttpRequest, HttpResponse, ResponseBody } from '../types.ts';
import { type ContentCoding, chooseCoding, contentCodings } from './content-coding.ts';

/** The files of the pages that have a script, as their build wrote them. Read when they are first requested. */
export interface WebFiles {
  /** Whether there is an asset with this name. */
  has(name: string): boolean;
  /** Serves the asset that the request's parameter names. @throws Error when there is none. */
  serve(request: Pick<HttpRequest, 'parameter' | 'headers'>): Promise<HttpResponse<ResponseBody>>;
  /** The HTML of a page, with placeholders. @throws Error when it cannot be read, because the pages were not built. */
  page(name: string): string;
}

/** The assets are served under names that change with their content, so that browsers may keep them. */
export const immutable = 'public, max-age=31536000, immutable';

/** What is served, by file extension; other files are not. */
const servedTypes: Readonly<Record<string, string>> = {
  '.js': inUtf8(mediaTypes.javascript),
  '.css': inUtf8(mediaTypes.css),
  '.svg': inUtf8(mediaTypes.svg),
  '.json': mediaTypes.json,
  '.woff2': mediaTypes.woff2,
  '.ttf': mediaTypes.ttf,
};

/** The media types of assets. */
export const assetMediaTypes: readonly string[] = Object.values(servedTypes).map((type) => type.split(';')[0] ?? type);

/** The extension of an encoded file, which follows its own. */
const encodedExtensions: Readonly<Record<ContentCoding, string>> = { br: '.br', gzip: '.gz', identity: '' };

/**
 * Serves the files of a folder that `web/build.js` wrote: pages, and below `assets/` what they load. A build may replace the
 * folder at any time: pages are then those of the new build, and the assets of the previous one are still served to people who
 * have its pages open.
 *
 * @param folder ends with a slash.
 * @param previous the folder in which the build keeps the previous one.
 */
export function openWebFiles(folder: URL, previous: URL): WebFiles {
  const listings = [new Listing(new URL('assets/', folder)), new Listing(new URL('assets/', previous))];
  const pages = new Map<string, { readonly text: string; readonly version: string }>();
  const find = (name: string): Asset | undefined => {
    for (const listing of listings) {
      const asset = listing.find(name);
      if (asset) return asset;
    }
    // Only now, because what is listed needs no look at the folders.
    return listings.find((listing) => listing.refresh() && listing.find(name))?.find(name);
  };
  return {
    has: (name) => find(name) !== undefined,
    async serve({ parameter, headers }) {
      // Try again in case a build has moved the file.
      for (let attempt = 1; attempt <= 2; attempt += 1) {
        const asset = find(parameter);
        if (!asset) break;
        try {
          return await serveAsset(asset, headers['accept-encoding'], headers['if-none-match']);
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
          for (const listing of listings) listing.refresh();
        }
      }
      throw new GatewayError('NOT_FOUND', 'This file belongs to an earlier version of the pages. Reload the page.');
    },
    page(name) {
      const file = new URL(`${name}.html`, folder);
      const version = versionOf(file);
      const known = pages.get(name);
      if (known?.version === version) return known.text;
      const text = readPage(file);
      pages.set(name, { text, version });
      return text;
    },
  };
}

/** Changes when a build replaces a file or a folder, even within the resolution of the clock; empty if there is none. */
function versionOf(file: URL): string {
  const status = statSync(file, { throwIfNoEntry: false });
  return status ? `${status.ino} ${status.ctimeMs}` : '';
}

/** The assets of a folder, listed when one is first requested. */
class Listing {
  private readonly folder: URL;
  private assets: ReadonlyMap<string, Asset> = new Map();
  private version = '';

  constructor(folder: URL) {
    this.folder = folder;
  }

  find(name: string): Asset | undefined {
    return this.assets.get(name);
  }

  /** Lists the folder again if it was replaced. @returns whether it was. */
  refresh(): boolean {
    const version = versionOf(this.folder);
    if (version === this.version) return false;
    this.version = version;
    this.assets = listAssets(this.folder);
    return true;
  }
}

interface Asset {
  readonly contentType: string;
  /** The same content in each coding that the build wrote. */
  readonly variants: ReadonlyMap<ContentCoding, FileContent>;
}

function readPage(file: URL): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw new Error(`${fileURLToPath(file)} cannot be read. In a checkout, run: node scripts/setup.js`, { cause });
  }
}

/** The assets of a folder by name; none if it does not exist. No name is a path: what is not listed is not read. */
function listAssets(folder: URL): ReadonlyMap<string, Asset> {
  const names = new Set(existsSync(folder) ? readdirSync(folder) : []);
  const assets = new Map<string, Asset>();
  for (const name of names) {
    const contentType = servedTypes[extname(name)];
    if (contentType === undefined) continue;
    const variants = contentCodings
      .filter((coding) => names.has(name + encodedExtensions[coding]))
      .map((coding) => [coding, new FileContent(new URL(name + encodedExtensions[coding], folder))] as const);
    assets.set(name, { contentType, variants: new Map(variants) });
  }
  return assets;
}

async function serveAsset(
  { contentType, variants }: Asset,
  acceptEncoding?: string,
  ifNoneMatch?: string,
): Promise<HttpResponse<ResponseBody>> {
  const coding = chooseCoding(acceptEncoding, [...variants.keys()]);
  const content = variants.get(coding) as FileContent; // every asset has `identity`
  const etag = await content.etag();
  const headers = { etag, ...(variants.size > 1 && { vary: 'Accept-Encoding' }) };
  if (ifNoneMatch !== undefined && matches(ifNoneMatch, etag)) {
    return { status: 304, headers, body: '', cacheControl: immutable };
  }
  const encoded = { ...headers, 'content-type': contentType, ...(coding !== 'identity' && { 'content-encoding': coding }) };
  return { status: 200, headers: encoded, body: await content.bytes(), cacheControl: immutable };
}

/** Whether an `If-None-Match` header lists an entity tag, by weak comparison. */
function matches(ifNoneMatch: string, etag: string): boolean {
  return ifNoneMatch.split(',').some((item) => {
    const tag = item.trim();
    return tag === '*' || tag === etag || tag === `W/${etag}`;
  });
}

/**
 * The bytes of a file. They are in memory only while a response needs them, and then once, however many responses do: clients
 * that do not read theirs take no more memory than the files have bytes.
 */
class FileContent {
  private readonly file: URL;
  private reading: Promise<Buffer> | undefined;
  private held: WeakRef<Buffer> | undefined;
  private tag: string | undefined;

  constructor(file: URL) {
    this.file = file;
  }

  async bytes(): Promise<Buffer> {
    const held = this.held?.deref();
    if (held) return held;
    this.reading ??= this.read().finally(() => {
      this.reading = undefined;
    });
    return this.reading;
  }

  /** The strong entity tag of these bytes. */
  async etag(): Promise<string> {
    this.tag ??= `"${createHash('sha256')
      .update(await this.bytes())
      .digest('base64url')
      .slice(0, 27)}"`;
    return this.tag;
  }

  private async read(): Promise<Buffer> {
    const bytes = await readFile(this.file);
    this.held = new WeakRef(bytes);
    return bytes;
  }
}
