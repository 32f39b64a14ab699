import { expect, test } from 'vitest';
import { escapeHtml, html, withCode } from '../../../src/http/pages/layout.ts';

test('escapes special characters of HTML', () => {
  expect(escapeHtml(`<a href="x" class='y'>&amp;</a>`)).toBe('&lt;a href=&quot;x&quot; class=&#39;y&#39;&gt;&amp;amp;&lt;/a&gt;');
});

test('escapes text and numbers in a template, and inserts HTML as it is', () => {
  const inner = html`<b>${'<1>'}</b>`;
  expect(html`<p title="${'"'}">${5} ${inner} ${[inner, html`<i></i>`]}</p>`.source).toBe(
    '<p title="&quot;">5 <b>&lt;1&gt;</b> <b>&lt;1&gt;</b><i></i></p>',
  );
});

test('renders parts between backticks as code, escaped', () => {
  expect(withCode('Fix `a<b`, then `c`.').source).toBe('Fix <code>a&lt;b</code>, then <code>c</code>.');
});
