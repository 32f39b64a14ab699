import { type ErrorCode, errorCatalog } from '../../error-catalog.ts';
import { errorCodePath, paths } from '../paths.ts';
import { type Html, href, html, type PageContent, withCode } from './layout.ts';

const codes = Object.keys(errorCatalog) as ErrorCode[];

/** Whether there is an error code with this name. */
export function isErrorCode(name: string): name is ErrorCode {
  return Object.hasOwn(errorCatalog, name);
}

/** The page that lists every error code. */
export function errorCodesPage(): PageContent {
  const intro = html`<p>The codes of errors, over REST and GraphQL: what they mean and what to do.</p>`;
  return { title: 'Error codes', main: html`${intro}<dl class="list">${codes.map(describeCode)}</dl>` };
}

function describeCode(code: ErrorCode): Html {
  const { status, title, remedy } = errorCatalog[code];
  return html`
<div><dt><a href="${href(errorCodePath(code))}"><code>${code}</code></a> <span class="badge">${status}</span></dt>
<dd>${title}. ${withCode(remedy)}</dd></div>`;
}

/** The page about one error code. */
export function errorCodePage(code: ErrorCode): PageContent {
  const { status, title, remedy } = errorCatalog[code];
  const main = html`<p><strong>${title}.</strong></p>
<p>${withCode(remedy)}</p>
<p>HTTP status <span class="badge">${status}</span></p>
<p><a href="${href(paths.errors)}">All error codes</a></p>`;
  return { title: code, heading: html`<code>${code}</code>`, main };
}
