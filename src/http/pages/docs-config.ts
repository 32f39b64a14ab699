import { shortenExample } from '../../docs-config/explain.ts';
import { type Code, codes, rules } from '../../docs-config/rules/registry.ts';
import type { Rule } from '../../docs-config/rules/rule.ts';

const style = `
:root { color-scheme: light dark; }
body { max-width: 44rem; margin: 2rem auto; padding: 0 1rem; font: 1rem/1.6 system-ui, sans-serif; color: light-dark(#1f2328, #e6edf3); background: light-dark(#fff, #0d1117); }
a { color: light-dark(#0b5cad, #78b6ff); }
code, pre { font-family: ui-monospace, monospace; font-size: 0.9em; }
pre { padding: 0.8rem 1rem; overflow-x: auto; border-radius: 0.4rem; background: light-dark(#f4f6f8, #161b22); border-left: 4px solid; }
pre.wrong { border-color: #cf222e; } pre.right { border-color: #1a7f37; }
table { border-collapse: collapse; } td, th { padding: 0.3rem 1rem 0.3rem 0; text-align: left; vertical-align: top; }
`;

/** Renders the page about a code: what it means, and an example of wrong and right. A complete HTML document. */
export function renderCodePage(code: Code): string {
  const { title, explanation, severity, wrong, right, files }: Rule = rules[code];
  const around = files
    ? `<p>In a site with the files ${files.map((file) => `<code>${escapeHtml(file)}</code>`).join(', ')}:</p>`
    : '';
  const body = `<p><a href="/docs/docs-config">All codes</a></p>
<h1><code>${code}</code></h1>
<p><strong>${escapeHtml(title)}.</strong> By default ${severity === 'error' ? 'an error' : 'a warning'}.</p>
<p>${escapeHtml(explanation)}</p>
${around}<h2>Wrong</h2>
<pre class="wrong"><code>${escapeHtml(shortenExample(wrong))}</code></pre>
<h2>Right</h2>
<pre class="right"><code>${escapeHtml(right)}</code></pre>
<h2>Switch it off</h2>
<p><code>docs-config check --severity ${code}=off</code>, or <code>severities</code> in the query.</p>`;
  return renderPage(`${code}: ${title}`, body);
}

/** Renders the page that lists every code, served at `/docs/docs-config`. A complete HTML document. */
export function renderIndexPage(): string {
  const rows = codes.map((code) => {
    const { title, severity }: Rule = rules[code];
    return `<tr><td><a href="${pagePath(code)}"><code>${code}</code></a></td><td>${severity}</td><td>${escapeHtml(title)}.</td></tr>`;
  });
  const head = '<tr><th>Code</th><th>Default</th><th>When</th></tr>';
  const schema = '<p>The JSON Schema for editors: <a href="/schemas/docs-config.json">/schemas/docs-config.json</a></p>';
  return renderPage(
    'Diagnostics of docs-config',
    `<h1>Diagnostics of docs-config</h1>\n${schema}\n<table>${head}\n${rows.join('\n')}\n</table>`,
  );
}

function renderPage(title: string, body: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<style>${style}</style>
</head>
<body>
${body}
</body>
</html>
`;
}

/** Escapes text for HTML. */
function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}

/** The path of the page about a code. */
function pagePath(code: Code): string {
  return `/docs/docs-config/${code}`;
}
