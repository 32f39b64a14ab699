import { createHash } from 'node:crypto';
import { inUtf8, mediaTypes } from '../media-types.ts';
import type { HttpRequest, HttpResponse } from '../types.ts';
import { immutable } from '../web-files.ts';
import { stylesheet } from './stylesheet.ts';

/** Two people, on a background that is visible in light and dark tabs. */
const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">
<rect width="32" height="32" rx="7" fill="#2456c8"/>
<g fill="#fff">
<circle cx="12" cy="11.5" r="4"/>
<path d="M4.5 25c0-4.7 3.3-8 7.5-8s7.5 3.3 7.5 8z"/>
<g opacity=".75">
<circle cx="21.5" cy="13" r="3"/>
<path d="M21.7 25c0-2.7-.9-5-2.4-6.6.7-.3 1.4-.4 2.2-.4 3.4 0 6 2.8 6 7z"/>
</g>
</g>
</svg>
`;

/** The name of a file changes with its content, so that browsers may keep it. */
function hashedName(name: string, extension: string, content: string): string {
  return `${name}-${createHash('sha256').update(content).digest('hex').slice(0, 12)}.${extension}`;
}

const stylesheetName = hashedName('style', 'css', stylesheet);
const iconName = hashedName('icon', 'svg', icon);

const folder = '/assets/';

/** The paths of the files that every page links to. */
export const assetPaths = { stylesheet: folder + stylesheetName, icon: folder + iconName } as const;

/** The path of an asset in the route table. */
export const assetRoutePath = `${folder}{name}`;

const assets: ReadonlyMap<string, HttpResponse> = new Map([
  [stylesheetName, file(stylesheet, mediaTypes.css, immutable)],
  [iconName, file(icon, mediaTypes.svg, immutable)],
]);

function file(body: string, mediaType: string, cacheControl: string): HttpResponse {
  return { status: 200, headers: { 'content-type': inUtf8(mediaType) }, body, cacheControl };
}

/** Whether there is an asset with this name. */
export function isAsset(name: string): boolean {
  return assets.has(name);
}

/** Serves an asset by its name. @throws Error when there is none: the router checks {@link isAsset}. */
export function serveAsset({ parameter }: HttpRequest): HttpResponse {
  const asset = assets.get(parameter);
  if (!asset) throw new Error(`There is no asset ${parameter}.`);
  return asset;
}

/** Serves the icon under its conventional name, which browsers request for pages without a link to one. */
export const serveFavicon = (): HttpResponse => file(icon, mediaTypes.svg, 'public, max-age=86400');
