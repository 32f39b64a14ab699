import type { Content, Example, JsonSchema, OpenApiDocument, Operation, PathItem, ResponseObject } from '../openapi/types.ts';
import { openApiMethods } from '../openapi/types.ts';
import { errorCodePath, paths } from '../paths.ts';
import { isErrorCode } from './error-codes.ts';
import { type Html, html, withCode } from './html.ts';
import { href, type PageContent } from './layout.ts';

/** What the reference shows besides the document. */
export interface ReferenceOptions {
  /** The tag of the operations to show. */
  readonly tag: string;
  /** The shell variables that the examples use, with what each holds. */
  readonly variables: Readonly<Record<string, string>>;
}

/** The reference of an API: its operations in an OpenAPI document, with every example. */
export function apiReferencePage(document: OpenApiDocument, { tag, variables }: ReferenceOptions): PageContent {
  const items = Object.entries(document.paths).filter(([, item]) =>
    operationsOf(item).some(([, { tags }]) => tags?.includes(tag)),
  );
  const description = document.tags.find(({ name }) => name === tag)?.description ?? '';
  const main = html`<p>${description} This page is generated from the <a href="${href(paths.openApi)}">OpenAPI document</a>.</p>
<ul>${items.flatMap(([path, item]) => operationsOf(item).map((entry) => renderLink(path, ...entry)))}</ul>
<h2 id="conventions">Conventions</h2>
<p>${withCode(document.components.securitySchemes['token']?.['description'] ?? '')}</p>
<p>Members of a request that are not listed are ignored. The examples are for a POSIX shell, and use these variables:</p>
<dl>${Object.entries(variables).map(([name, text]) => html`<dt><code>${name}</code></dt><dd>${text}</dd>`)}</dl>
${items.map(([path, item]) => renderItem(path, item))}
<h2 id="errors">Errors</h2>
<p>Every error has this body, and a code with <a href="${href(paths.errors)}">a page of its own</a>:</p>
${renderMembers(document.components.schemas['Problem'] ?? {})}`;
  return { title: tag, main };
}

function operationsOf(item: PathItem): [method: string, operation: Operation][] {
  return openApiMethods.flatMap((method) => {
    const operation = item[method];
    return operation ? [[method.toUpperCase(), operation] as [string, Operation]] : [];
  });
}

/** With the path of the page, because the base URL of every page is the root of the gateway. */
function renderLink(path: string, method: string, { operationId, summary }: Operation): Html {
  return html`<li><a href="${href(paths.apiReference)}#${operationId}"><code>${method} ${path}</code></a> ${summary}</li>`;
}

function renderItem(path: string, item: PathItem): Html {
  const others = item['x-other-methods'];
  return html`${operationsOf(item).map(([method, operation]) => renderOperation(method, path, operation))}
${others ? html`<h2 id="other-methods">Other methods</h2>${renderStatus('405', others)}` : ''}`;
}

function renderOperation(method: string, path: string, operation: Operation): Html {
  const { operationId, summary, description = '', parameters = [], requestBody, responses } = operation;
  const { 200: success, ...failures } = responses;
  return html`<h2 id="${operationId}">${summary}</h2>
<p><code>${method} ${path}</code></p>
${renderText(description)}
<h3>Request</h3>
${parameters.length > 0 ? html`<dl>${parameters.map((one) => renderMember(one.name, { ...one.schema, description: one.description }, one.required))}</dl>` : ''}
${requestBody ? renderMembers(schemaOf(requestBody.content)) : ''}
<h3>Response</h3>
${renderMembers(schemaOf(success?.content))}
${examplesOf(success).map(([, example]) => renderExample(example, true))}
<h3>Errors</h3>
${Object.entries(failures).map(([status, response]) => renderStatus(status, response))}`;
}

const schemaOf = (content: Content | undefined): JsonSchema => Object.values(content ?? {})[0]?.schema ?? {};

const examplesOf = (response: ResponseObject | undefined): [string, Example][] =>
  Object.values(response?.content ?? {}).flatMap(({ examples = {} }) => Object.entries(examples));

const renderText = (text: string): readonly Html[] => text.split('\n\n').map((paragraph) => html`<p>${withCode(paragraph)}</p>`);

function renderMembers(schema: JsonSchema): Html {
  return html`<dl>${membersOf(schema).map(([name, member, isRequired]) => renderMember(name, member, isRequired))}</dl>`;
}

/** The members of an object and, after each, those of the objects in it, by their paths. */
function membersOf({ properties = {}, required = [] }: JsonSchema, prefix = ''): [string, JsonSchema, boolean][] {
  return Object.entries(properties).flatMap(([name, member]): [string, JsonSchema, boolean][] => [
    [prefix + name, member, required.includes(name)],
    ...membersOf(member, `${prefix}${name}.`),
    ...membersOf(member.items ?? {}, `${prefix}${name}[].`),
  ]);
}

function renderMember(name: string, schema: JsonSchema, isRequired = false): Html {
  const notes = [[schema.type ?? []].flat().join(' or '), describeLimits(schema), isRequired ? '' : 'optional'];
  const badges = notes.filter(Boolean).map((note) => html` <span class="badge">${note}</span>`);
  return html`
<dt><code>${name}</code>${badges}</dt>
<dd>${withCode(schema.description ?? '')}</dd>`;
}

/** The most values that are listed next to a member. */
const maxListedValues = 4;

function describeLimits({ enum: values = [], minLength = 0, maxLength, maxProperties }: JsonSchema): string {
  if (maxLength !== undefined) return `${minLength} to ${maxLength} characters`;
  if (maxProperties !== undefined) return `up to ${maxProperties} entries`;
  return values.length <= maxListedValues ? values.map((value) => JSON.stringify(value)).join(', ') : '';
}

function renderStatus(status: string, response: ResponseObject): Html {
  const headers = Object.entries(response.headers ?? {}).filter(([name]) => name !== 'X-Request-Id');
  return html`<h4>${status}</h4>
${(response.description ?? '').split('\n\n').map(renderMeaning)}
${headers.length > 0 ? html`<p>With the header ${headers.map(([name, { description }]) => html`<code>${name}</code>: ${description}`)}</p>` : ''}
${examplesOf(response).map(([, example]) => renderExample(example, false))}`;
}

/** What a code means; it begins with the code, which becomes a link. */
function renderMeaning(text: string): Html {
  const [before, code = '', ...rest] = text.split('`');
  if (before !== '' || !isErrorCode(code)) return html`<p>${withCode(text)}</p>`;
  return html`<p><a href="${href(errorCodePath(code))}"><code>${code}</code></a>${withCode(rest.join('`'))}</p>`;
}

function renderExample({ summary, value, 'x-curl': command }: Example, isOpen: boolean): Html {
  const body = html`${command === undefined ? '' : html`<pre class="command" tabindex="0"><code>${command}</code></pre>`}
<pre tabindex="0"><code>${JSON.stringify(value, null, 2)}</code></pre>`;
  return isOpen
    ? html`<details open><summary>${summary}</summary>${body}</details>`
    : html`<details><summary>${summary}</summary>${body}</details>`;
}
