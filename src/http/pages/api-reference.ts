import { type ErrorCode, errorCatalog } from '../../error-catalog.ts';
import { errorCodePath, paths } from '../paths.ts';
import { type Html, href, html, type PageContent, withCode } from './layout.ts';
import {
  type Example,
  errorResponses,
  type JsonSchema,
  type MediaType,
  type OpenApiDocument,
  type Operation,
  operationsOf,
  type ResponseObject,
} from './openapi.ts';
import { curlExample } from './request-examples.ts';

/** An operation with its place. */
interface Located {
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

/** The reference of the API: every operation, example and error of the OpenAPI document. */
export function apiReferencePage(document: OpenApiDocument): PageContent {
  const { info, components, 'x-example-variables': variables } = document;
  const operations = Object.entries(document.paths).flatMap(([path, item]) =>
    operationsOf(item).map(([method, operation]): Located => ({ method, path, operation })),
  );
  const groups = document.tags.map((tag) => ({
    ...tag,
    members: operations.filter(({ operation }) => operation.tags.includes(tag.name)),
  }));
  const main = html`<p>Every request, response and error of the <a href="${href(paths.openApi)}">OpenAPI document</a>, from which
clients can be generated.</p>
<dl class="list">${groups.map(({ name, members }) => renderEntry(html`${name}`, html`${members.map(renderLink)}`))}</dl>
<h2 id="conventions">Conventions</h2>
${renderText(info.description)}
<ul>${Object.values(components.securitySchemes).map(({ description }) => html`<li>${withCode(description)}</li>`)}</ul>
<p>The examples read these environment variables:</p>
<dl class="list">${Object.entries(variables).map(([name, text]) => renderEntry(html`<code>${name}</code>`, withCode(text)))}</dl>
${groups.map(({ name, description, members }) => html`<h2>${name}</h2>\n<p>${description}</p>\n${members.map(renderOperation)}`)}
<h2 id="errors">Errors</h2>
<p>Every error of the REST operations has this body. Each code has <a href="${href(paths.errors)}">a page of its own</a>.</p>
${renderList('', renderMembers(components.schemas['Problem']))}
${errorResponses(document).map(renderErrors)}`;
  return { title: 'API reference', main };
}

/** A link within the page has its path, because the base URL of every page is the root of the gateway. */
const linkTo = (id: string): string => `${href(paths.apiReference)}#${id}`;

const renderLink = ({ method, path, operation: { operationId, summary } }: Located): Html =>
  html`<div><a href="${linkTo(operationId)}"><code>${method} ${path}</code></a> ${summary}</div>`;

const renderText = (text: string): readonly Html[] => text.split('\n\n').map((paragraph) => html`<p>${withCode(paragraph)}</p>`);

function renderOperation({ method, path, operation }: Located): Html {
  const { operationId, summary, description, security, parameters = [], requestBody, responses } = operation;
  const { 200: success = { description: '' }, ...others } = responses;
  const { example, examples = {} } = contentOf(success);
  const own = Object.values(examples).find(isOwn)?.value ?? example;
  return html`<h3 id="${operationId}">${summary}</h3>
<p><code>${method} ${path}</code>${badge(describeSecurity(security))}</p>
${description === undefined ? '' : renderText(description)}
${renderCode(curlExample(method, path, operation), true)}
${own === undefined ? '' : html`<p>The response:</p>\n${renderCode(JSON.stringify(own, null, 2))}`}
${Object.values(examples).map((one) => (isOwn(one) ? html`` : renderExample(one)))}
${renderList(
  'Parameters',
  parameters.map((one) => renderMember(one.name, { ...one.schema, description: one.description }, one.required, one.in)),
)}
${Object.entries(requestBody?.content ?? {}).map(([type, { schema }]) => renderList(`Body: ${type}`, renderMembers(schema)))}
<h4>Response</h4>
<p>${withCode(success.description)}</p>
${renderList('', [...renderHeaders(success), ...renderMembers(contentOf(success).schema)])}
<h4>Other responses</h4>
<ul>${Object.entries(others).map(([status, response]) => html`<li>${status}: ${renderMeaning(response)}</li>\n`)}</ul>`;
}

/** Whether it is the response to the example request of the operation. */
const isOwn = (example: Example): boolean => example['x-curl'] === undefined;

function describeSecurity(security: Operation['security']): string {
  if (security.length === 0) return 'no API token';
  return security.some((scheme) => Object.keys(scheme).length === 0) ? 'optional API token' : 'needs an API token';
}

/** The error codes of a response as links, or what it means if it has none. */
function renderMeaning(response: ResponseObject): Html {
  const codes = codesOf(response);
  if (codes.length === 0) return withCode(response.description);
  return html`${codes.map((code, index) => html`${index > 0 ? ', ' : ''}<a href="${linkTo(code)}"><code>${code}</code></a>`)}`;
}

function renderList(title: string, entries: readonly Html[]): Html {
  if (entries.length === 0) return html``;
  return html`${title === '' ? '' : html`<h4>${title}</h4>`}\n<dl class="list">${entries}</dl>`;
}

const renderEntry = (term: Html, text: Html): Html => html`\n<div><dt>${term}</dt>\n<dd>${text}</dd></div>`;

const renderMembers = (schema: JsonSchema | undefined): readonly Html[] =>
  membersOf(schema ?? {}).map(([name, member, isRequired]) => renderMember(name, member, isRequired));

/** The members of an object and, after each, those of the objects in it, by their paths. */
function membersOf({ properties = {}, required = [] }: JsonSchema, prefix = ''): [string, JsonSchema, boolean][] {
  return Object.entries(properties).flatMap(([name, member]): [string, JsonSchema, boolean][] => [
    [prefix + name, member, required.includes(name)],
    ...membersOf(member, `${prefix}${name}.`),
    ...membersOf(member.items ?? {}, `${prefix}${name}[].`),
  ]);
}

function renderMember(name: string, schema: JsonSchema, isRequired = false, place = ''): Html {
  const type = schema.contentSchema ? 'JSON text' : [schema.type ?? []].flat().join(' or ');
  const notes = [place, type, describeLimits(schema), isRequired ? '' : 'optional'].filter(Boolean);
  return renderEntry(html`<code>${name}</code>${notes.map(badge)}`, withCode(schema.description ?? ''));
}

/** The headers that not every response has. */
const renderHeaders = ({ headers = {} }: ResponseObject): readonly Html[] =>
  Object.entries(headers).flatMap(([name, { description, required }]) =>
    name === 'X-Request-Id' ? [] : [renderMember(name, { description }, required, 'header')],
  );

const badge = (note: string): Html => html` <span class="badge">${note}</span>`;

/** The most values that are listed next to a member. */
const maxListedValues = 4;

function describeLimits({ const: only, minLength = 0, maxLength, maxProperties, ...schema }: JsonSchema): string {
  const values = only === undefined ? (schema.enum ?? []) : [only];
  if (maxLength !== undefined) return `${minLength} to ${maxLength} characters`;
  if (maxProperties !== undefined) return `up to ${maxProperties} entries`;
  return values.length <= maxListedValues ? values.map((value) => JSON.stringify(value)).join(', ') : '';
}

/** The errors that a response stands for: each with its paragraph of the description, and its example. */
function renderErrors(response: ResponseObject): Html {
  const paragraphs = response.description.split('\n\n');
  const { examples = {} } = contentOf(response);
  return html`${codesOf(response).map(
    (code, index) => html`<h3 id="${code}"><a href="${href(errorCodePath(code))}"><code>${code}</code></a></h3>
<p>${withCode((paragraphs[index] ?? '').replace(`\`${code}\`: `, ''))} The status is ${errorCatalog[code].status}.</p>
${renderList('', renderHeaders(response))}
${examples[code] ? renderExample(examples[code]) : ''}`,
  )}`;
}

/** The first representation of a response: the others have the same content. */
const contentOf = ({ content = {} }: ResponseObject): Partial<MediaType> => Object.values(content)[0] ?? {};

/** The error codes of a response. */
const codesOf = (response: ResponseObject): readonly ErrorCode[] =>
  (contentOf(response).schema?.allOf?.[1]?.properties?.['code']?.enum ?? []) as readonly ErrorCode[];

function renderExample({ summary, value, 'x-curl': command }: Example): Html {
  const body = renderCode(JSON.stringify(value, null, 2));
  return renderDetails(summary, command === undefined ? body : html`${renderCode(command, true)}\n${body}`);
}

const renderDetails = (summary: string, content: Html): Html =>
  html`<details><summary>${summary}</summary>${content}</details>\n`;

const renderCode = (text: string, isCommand = false): Html =>
  html`<pre${isCommand ? html` class="command"` : html``} tabindex="0"><code>${text}</code></pre>`;
