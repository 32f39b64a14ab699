import type { ErrorCode } from '../../error-catalog.ts';
import { paths } from '../paths.ts';
import { linkToCode } from './errors.ts';
import { type Html, href, html, type PageContent, withCode } from './layout.ts';

/** A JSON Schema, as far as the reference shows it. */
interface Schema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
}

interface Example {
  readonly summary: string;
  readonly value: unknown;
  readonly 'x-curl'?: string;
}

/** A body by its media types. */
type Content = Readonly<Record<string, { schema: Schema; example?: unknown; examples?: Readonly<Record<string, Example>> }>>;

interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: readonly { name: string; in: string; description: string; required?: boolean; schema: Schema }[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly description: string; readonly content?: Content }>>;
  readonly 'x-curl': string;
}

/** `openapi.yaml` without references, as far as the reference shows it. */
interface OpenApiDocument {
  readonly info: { readonly description: string };
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: { readonly Problem: Schema } };
}

/** Puts what each `$ref` refers to in its place; members beside a `$ref` prevail. No schema may refer to itself. */
export function dereference(value: unknown, document = value): unknown {
  const find = (pointer: string): unknown =>
    pointer
      .split('/')
      .slice(1)
      .reduce((found: unknown, name) => (found as Record<string, unknown>)[name], document);
  return JSON.parse(JSON.stringify(value), (_, member) => {
    if (typeof member?.$ref !== 'string') return member;
    const { $ref, ...own } = member;
    return { ...(dereference(find($ref), document) as object), ...own };
  });
}

/** The reference of the API: every operation of the OpenAPI document, with examples. */
export function apiReferencePage(text: string): PageContent {
  const document = dereference(JSON.parse(text)) as OpenApiDocument;
  const { info, tags, components } = document;
  const operations = Object.entries(document.paths).flatMap(([path, item]) =>
    ['get', 'put', 'post', 'patch', 'delete'].flatMap((method) => {
      const operation = item[method];
      return operation ? [{ ...operation, place: `${method.toUpperCase()} ${path}` }] : [];
    }),
  );
  const main = html`<p>The <a href="${href(paths.openApi)}">OpenAPI document</a> as a page. Clients can be generated from the document.</p>
${renderList(
  operations.map(({ operationId, place, summary }) =>
    renderEntry(html`<a href="${href(paths.apiReference)}#${operationId}"><code>${place}</code></a>`, summary),
  ),
)}
${renderText(info.description)}
${tags.map(
  ({ name, description }) => html`<h2>${name}</h2>
${renderText(description)}
${operations.filter((operation) => operation.tags.includes(name)).map(renderOperation)}`,
)}
<h2>Errors</h2>
<p>Every error of the REST operations has this body. Each code has <a href="${href(paths.errors)}">a page of its own</a>.</p>
${renderList(renderMembers(components.schemas.Problem))}`;
  return { title: 'API reference', main };
}

function renderOperation(operation: Operation & { place: string }): Html {
  const { place, operationId, summary, description = '', parameters = [], requestBody, responses, 'x-curl': curl } = operation;
  const { schema = {}, example, examples } = contentOf(responses['200']);
  const shown = Object.values(examples ?? { only: { summary: 'Example', value: example } });
  return html`<h3 id="${operationId}">${summary}</h3>
<p><code>${place}</code></p>
${renderText(description)}
${shown.map(
  ({ summary: title, value, 'x-curl': command = curl }) => html`<p>${title}:</p>
<pre class="command" tabindex="0"><code>${command}</code></pre>
${value === undefined ? '' : html`<pre tabindex="0"><code>${JSON.stringify(value, null, 2)}</code></pre>`}`,
)}
<p>Request:</p>
${renderList([
  ...parameters.map(({ name, in: where, schema: type, description: meaning, required }) =>
    renderMember(`${name} (${where})`, { ...type, description: meaning }, required),
  ),
  ...renderMembers(contentOf(requestBody).schema ?? {}),
])}
<p>Response:</p>
${renderList(renderMembers(schema))}
<p>Status codes:</p>
<ul>${Object.entries(responses).map(([status, response]) => html`<li>${status}: ${renderMeaning(response.description)}</li>\n`)}</ul>`;
}

/** The first representation of a body: the others have the same content. */
const contentOf = ({ content = {} }: { readonly content?: Content } = {}): Partial<Content[string]> =>
  Object.values(content)[0] ?? {};

const renderText = (text: string): readonly Html[] =>
  text.split('\n\n').map((paragraph) => html`<p>${withCode(paragraph)}</p>\n`);

/** Links to the error codes that begin the paragraphs of a description, or the description. */
function renderMeaning(description: string): Html {
  const codes = [...description.matchAll(/^`([A-Z_]+)`:/gm)].map(([, code]) => html`${linkToCode(code as ErrorCode)} `);
  return codes.length > 0 ? html`${codes}` : withCode(description);
}

/** The members of an object and, after each, those of the objects in it, by their paths. */
function renderMembers({ properties = {}, required = [] }: Schema, prefix = ''): readonly Html[] {
  return Object.entries(properties).flatMap(([name, member]) => [
    renderMember(prefix + name, member, required.includes(name)),
    ...renderMembers(member, `${prefix}${name}.`),
    ...renderMembers(member.items ?? {}, `${prefix}${name}[].`),
  ]);
}

function renderMember(name: string, { type = [], description = '' }: Schema, isRequired = false): Html {
  const notes = [[type].flat().join(' or '), isRequired ? '' : 'optional'].filter(Boolean).join(', ');
  return renderEntry(html`<code>${name}</code> <span class="badge">${notes}</span>`, description);
}

const renderList = (entries: readonly Html[]): Html =>
  entries.length > 0 ? html`<dl class="list">${entries}</dl>` : html`<p>None.</p>`;

const renderEntry = (term: Html, text: string): Html => html`\n<div><dt>${term}</dt>\n<dd>${withCode(text)}</dd></div>`;
