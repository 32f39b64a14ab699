import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
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

/** The extension of an encoded file, which stands after its own. */
const encodedExtensions: Readonly<Record<ContentCoding, string>> = { br: '.br', gzip: '.gz', identity: '' };

/** Serves the files of a folder that `web/build.js` wrote: pages, and below `assets/` what they load. */
export function openWebFiles(folder: URL): WebFiles {
  let listed: ReadonlyMap<string, Asset> | undefined;
  const pages = new Map<string, string>();
  const assets = (): ReadonlyMap<string, Asset> => {
    listed ??= listAssets(new URL('assets/', folder));
    return listed;
  };
  return {
    has: (name) => assets().has(name),
    serve({ parameter, headers }) {
      const asset = assets().get(parameter);
      if (!asset) throw new Error(`There is no asset ${parameter}.`);
      return serveAsset(asset, headers['accept-encoding'], headers['if-none-match']);
    },
    page(name) {
      const text = pages.get(name) ?? readPage(new URL(`${name}.html`, folder));
      pages.set(name, text);
      return text;
    },
  };
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
 * The bytes of a file. They are in memory only while a response needs them, and then once, however many responses do: clients that do not
 * read theirs take no more memory than the files have bytes.
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
