import { type Code, codes, type Rule, rules, shortenExample } from '@user-group-gateway/docs-config';
import { type Html, href, html, type PageContent } from '../http/pages/layout.ts';
import { docsConfigCodePath, paths } from '../http/paths.ts';

/** The page about a diagnostic code: what it means, and an example of wrong and right. */
export function diagnosticPage(code: Code): PageContent {
  const { title, explanation, severity, wrong, right, files = [] }: Rule = rules[code];
  const main = html`<p><strong>${title}.</strong> <span class="badge ${severity}">${severity}</span></p>
<p>${explanation}</p>
${files.length > 0 ? html`<p>In a site with the files ${separate(files)}:</p>` : ''}
<h2>Wrong</h2>
<pre class="wrong" tabindex="0"><code>${shortenExample(wrong)}</code></pre>
<h2>Correct</h2>
<pre class="right" tabindex="0"><code>${right}</code></pre>
<h2>Switch it off</h2>
<p><code>docs-config check --severity ${code}=off</code>, or <code>severities</code> in the query.</p>
<p><a href="${href(paths.docsConfig)}">All diagnostics</a></p>`;
  return { title: code, heading: html`<code>${code}</code>`, main };
}

function separate(files: readonly string[]): readonly Html[] {
  return files.map((file, index) => html`${index > 0 ? ', ' : ''}<code>${file}</code>`);
}

/** The page that lists every diagnostic code. */
export function diagnosticsPage(): PageContent {
  const schema = html`<a href="${href(paths.docsConfigSchema)}">JSON Schema</a>`;
  const main = html`<p>What the configuration file validator reports, with examples. For editors there is a ${schema}.</p>
<dl class="list">${codes.map(describeCode)}</dl>`;
  return { title: 'Diagnostics of docs-config', main };
}

function describeCode(code: Code): Html {
  const { title, severity }: Rule = rules[code];
  return html`
<div><dt><a href="${href(docsConfigCodePath(code))}"><code>${code}</code></a> <span class="badge ${severity}">${severity}</span></dt>
<dd>${title}.</dd></div>`;
}
