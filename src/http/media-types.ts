import type { RequestHead } from './types.ts';

/** The media types of request and response bodies. No other file names them. */
export const mediaTypes = {
  json: 'application/json',
  /** REST errors, RFC 9457. */
  problem: 'application/problem+json',
  /** GraphQL responses whose status says whether the operation was executed; `json` always has 200. */
  graphql: 'application/graphql-response+json',
  jsonSchema: 'application/schema+json',
  form: 'application/x-www-form-urlencoded',
  html: 'text/html',
  css: 'text/css',
  javascript: 'text/javascript',
  svg: 'image/svg+xml',
  woff2: 'font/woff2',
  ttf: 'font/ttf',
  text: 'text/plain',
} as const;

/** The `Content-Type` of text in UTF-8. JSON that is not GraphQL goes without, as RFC 8259 defines no charset for it. */
export function inUtf8(mediaType: string): string {
  return `${mediaType}; charset=utf-8`;
}

/**
 * An item of an `Accept` or `Accept-Encoding` header: its name in lower case, and its quality. An invalid quality counts as 1.
 */
export function readAcceptItem(item: string): { name: string; quality: number } {
  const [name = '', ...parameters] = item.split(';').map((part) => part.trim().toLowerCase());
  const quality = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
  const value = quality === undefined || quality === '' ? 1 : Number(quality);
  return { name, quality: value >= 0 && value <= 1 ? value : 1 };
}

/** Whether an `Accept` header prefers HTML to JSON, as those of browsers do for a page. */
export function prefersHtml(accept = ''): boolean {
  const named = accept
    .split(',')
    .map(readAcceptItem)
    .filter(({ name, quality }) => quality > 0 && htmlOrJson.includes(name))
    .sort((a, b) => b.quality - a.quality);
  return named[0]?.name === mediaTypes.html;
}

const htmlOrJson: readonly string[] = [mediaTypes.html, mediaTypes.json, mediaTypes.problem, 'application/*', '*/*'];

/**
 * Whether a person opened the URL in a browser. A browser sends no API token when it does; some HTTP clients, such as Java's, do,
 * and prefer HTML by default.
 */
export function isNavigation({ headers: { accept, authorization = '' } }: Pick<RequestHead, 'headers'>): boolean {
  const sendsApiToken = authorization !== '' && !authorization.toLowerCase().startsWith('basic ');
  return !sendsApiToken && prefersHtml(accept);
}
