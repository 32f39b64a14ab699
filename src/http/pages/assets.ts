import { createHash } from 'node:crypto';
import { inUtf8, mediaTypes } from '../media-types.ts';
import type { HttpRequest, HttpResponse } from '../types.ts';
import { immutable } from '../web-files.ts';

/** The stylesheet of every page. Light and dark follow the browser's setting; usable from a width of 320 pixels. */
const stylesheet = `:root {
  color-scheme: light dark;
  --text: light-dark(#1f2328, #e6edf3);
  --muted: light-dark(#59636e, #9aa4af);
  --background: light-dark(#ffffff, #0d1117);
  --panel: light-dark(#f5f7f9, #161b22);
  --border: light-dark(#d5dbe1, #30363d);
  --link: light-dark(#0b57b5, #7ab7ff);
  --wrong: light-dark(#c01c28, #ff7b72);
  --right: light-dark(#1a7f37, #56d364);
  --selected: light-dark(#e4ebf5, #1f2a3a);
  --field: light-dark(#868f99, #6e7681);
}
* { box-sizing: border-box; }
body {
  margin: 0;
  color: var(--text);
  background: var(--background);
  font: 1rem/1.6 system-ui, sans-serif;
  overflow-wrap: anywhere;
}
main { max-width: 58rem; margin: 0 auto; padding: 2rem 1rem 4rem; }
.site {
  display: flex;
  flex-wrap: wrap;
  align-items: center;
  gap: 0 1.5rem;
  padding: 0.5rem max(1rem, (100% - 56rem) / 2);
  background: var(--background);
  border-bottom: 1px solid var(--border);
}
.app > .site { padding-inline: 1rem; }
.site nav { display: flex; flex-wrap: wrap; gap: 0 0.25rem; }
.site nav a { padding: 0.35rem 0.6rem; color: var(--muted); border-radius: 0.4rem; font-size: 0.95rem; text-decoration: none; }
.site nav a:hover { color: var(--text); background: var(--panel); }
.site nav a[aria-current] { color: var(--text); background: var(--selected); font-weight: 600; }
.site .home {
  display: flex;
  align-items: center;
  gap: 0.6rem;
  margin-right: auto;
  padding-block: 0.35rem;
  color: var(--text);
  font-weight: 650;
  text-decoration: none;
}
@media (max-width: 40rem) {
  .site { gap: 0; padding-inline: 0.75rem; }
  .site nav { flex: 1 1 100%; flex-wrap: nowrap; gap: 0 0.9rem; overflow-x: auto; scrollbar-width: none; }
  .site nav a { padding: 0.3rem 0; font-size: 0.85rem; white-space: nowrap; }
  .site nav a[aria-current] { background: none; text-decoration: underline; text-underline-offset: 0.3em; }
  main { padding-top: 1.25rem; }
}
h1 { margin: 0 0 0.75rem; font-size: 1.75rem; line-height: 1.25; }
h2 { margin: 2rem 0 0.5rem; font-size: 1.2rem; }
h3 { margin: 1.5rem 0 0.25rem; font-size: 1.05rem; }
h4 { margin: 1.25rem 0 0; font-size: 1rem; }
p { margin: 0.5rem 0; }
.lead { max-width: 42rem; color: var(--muted); font-size: 1.1rem; }
.cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(17rem, 100%), 1fr)); gap: 0.75rem; margin: 1.5rem 0; padding: 0; list-style: none; }
.cards li { position: relative; padding: 0.9rem 1rem; background: var(--panel); border: 1px solid var(--border); border-radius: 0.6rem; }
.cards li:hover { border-color: var(--link); }
.cards h2 { margin: 0; font-size: 1.05rem; }
.cards a { text-decoration: none; }
.cards a::after { position: absolute; inset: 0; content: ""; }
.cards p { margin: 0.25rem 0 0; color: var(--muted); font-size: 0.95rem; }
ul { margin: 0.75rem 0; padding-left: 1.25rem; }
summary { padding-block: 0.25rem; color: var(--muted); cursor: pointer; }
a { color: var(--link); }
a:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; border-radius: 2px; }
code, pre { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: 0.9em; }
pre {
  margin: 0.5rem 0;
  padding: 0.75rem 1rem;
  overflow-x: auto;
  overflow-wrap: normal;
  line-height: 1.45;
  background: var(--panel);
  border: 1px solid var(--border);
  border-left: 4px solid var(--border);
  border-radius: 0.4rem;
}
pre code { font-size: inherit; }
pre.command { user-select: all; border-left-color: var(--link); }
pre.wrong { border-left-color: var(--wrong); }
pre.right { border-left-color: var(--right); }
dl { margin: 1rem 0; }
dt { margin-top: 1.1rem; }
dt a { font-weight: 600; text-decoration: none; }
dt a:hover { text-decoration: underline; }
dd { margin: 0.1rem 0 0; }
.list { border: 1px solid var(--border); border-radius: 0.6rem; }
.list > div { padding: 0.6rem 1rem; }
.list > div + div { border-top: 1px solid var(--border); }
.list dt { margin: 0; }
.list dd { color: var(--muted); }
@media (min-width: 48rem) {
  .list > div { display: grid; grid-template-columns: 17rem minmax(0, 1fr); gap: 1rem; align-items: baseline; }
  .list dd { margin: 0; }
}
.facts dt { color: var(--muted); font-size: 0.9em; }
.badge {
  display: inline-block;
  padding: 0 0.5em;
  color: var(--muted);
  background: var(--panel);
  border: 1px solid var(--border);
  border-radius: 1em;
  font-size: 0.8em;
  white-space: nowrap;
}
.badge.error { color: var(--wrong); }
`;

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
