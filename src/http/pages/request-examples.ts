import { mediaTypes } from '../media-types.ts';
import type { Operation } from './openapi.ts';

/** A request. Its texts may name variables of the environment, such as `$API_TOKEN`. */
interface ExampleRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  readonly form: Readonly<Record<string, string>>;
  /** What is sent as JSON; undefined where nothing is. */
  readonly json: unknown;
}

/** A request as code in a language. */
export interface RequestExample {
  readonly language: string;
  readonly code: string;
}

/**
 * The request that the examples in an operation's parameters and body describe, as code that sends it and prints the body of the
 * response. The variables of the environment that it reads must be set.
 */
export function requestExamples(method: string, path: string, operation: Operation): readonly RequestExample[] {
  const request = exampleRequest(method, path, operation);
  return [
    { language: 'curl', code: curl(request) },
    { language: 'Python (requests)', code: python(request) },
    { language: 'JavaScript (fetch)', code: javascript(request) },
  ];
}

function exampleRequest(method: string, path: string, { security, parameters = [], requestBody }: Operation): ExampleRequest {
  const query = parameters.flatMap(({ name, example }): [string, string][] => {
    if (Array.isArray(example)) return [[name, example.join()]];
    return example === undefined ? [] : [[name, String(example)]];
  });
  const content = requestBody?.content ?? {};
  return {
    method,
    url: `$GATEWAY${path}`,
    headers: security.length > 0 ? { Authorization: 'Token $API_TOKEN' } : {},
    query: Object.fromEntries(query),
    form: (content[mediaTypes.form]?.example ?? {}) as Record<string, string>,
    json: content[mediaTypes.json]?.example,
  };
}

const isEmpty = (members: object): boolean => Object.keys(members).length === 0;

function curl({ method, url, headers, query, form, json }: ExampleRequest): string {
  const option = `${isEmpty(query) ? '' : '-G '}${method === 'GET' ? '' : `-X ${method} `}`;
  return [
    `curl -sS ${option}"${url}"`,
    ...Object.entries(headers).map(([name, value]) => `-H "${name}: ${value}"`),
    ...Object.entries({ ...query, ...form }).map(([name, value]) => `--data-urlencode ${quoteForShell(`${name}=${value}`)}`),
    ...(json === undefined ? [] : [`-H 'Content-Type: ${mediaTypes.json}'`, `-d ${quoteForShell(JSON.stringify(json))}`]),
  ].join(' \\\n  ');
}

/** Text as one word of POSIX shell, in which only variables of the environment are expanded. */
function quoteForShell(text: string): string {
  return `'${text.replaceAll("'", "'\\''").replace(variable, (name) => `'"${name}"'`)}'`.replace(/(?<=.)''$/, '');
}

function python({ method, url, headers, query, form, json }: ExampleRequest): string {
  const literal = (value: unknown) => writeLiteral(value, 4, pythonLanguage).replaceAll('\n', '\n    ');
  const options = Object.entries({ headers, params: query, data: form, json })
    .filter(([, value]) => value !== undefined && !isEmpty(value as object))
    .map(([name, value]) => `,\n    ${name}=${literal(value)}`);
  return `import os
import requests

response = requests.${method.toLowerCase()}(
    ${literal(url)}${options.join('')},
)
print(response.text)`;
}

function javascript({ method, url, headers, query, form, json }: ExampleRequest): string {
  const literal = (value: unknown) => writeLiteral(value, 2, javascriptLanguage).replace(/^( *)"(\w+)":/gm, '$1$2:');
  const sent = json === undefined ? headers : { ...headers, 'Content-Type': mediaTypes.json };
  const options = [
    ...(method === 'GET' ? [] : [`method: "${method}"`]),
    'cache: "no-store"', // some frameworks keep responses, whatever their headers say
    ...(isEmpty(sent) ? [] : [`headers: ${literal(sent)}`]),
    ...(isEmpty(form) ? [] : [`body: new URLSearchParams(${literal(form)})`]),
    ...(json === undefined ? [] : [`body: JSON.stringify(${literal(json)})`]),
  ].map((option) => `\n  ${option.replaceAll('\n', '\n  ')},`);
  const parameters = isEmpty(query) ? '' : `const query = new URLSearchParams(${literal(query)});\n`;
  const target = isEmpty(query) ? literal(url) : `${literal(url).slice(0, -1)}?\${query}\``;
  return `${parameters}const response = await fetch(${target}, {${options.join('')}\n});
console.log(await response.text());`;
}

/** A language whose literals are those of JSON, except these. */
interface Language {
  readonly words: Readonly<Record<string, string>>;
  /** Reads a variable of the environment. */
  readonly read: (name: string) => string;
  /** What an expression in a text begins with; it ends with a brace. */
  readonly open: string;
  /** A text, without quotes, that has expressions. */
  readonly template: (text: string) => string;
}

const pythonLanguage: Language = {
  words: { null: 'None', true: 'True', false: 'False' },
  read: (name) => `os.environ['${name}']`,
  open: '{',
  template: (text) => `f"${text}"`,
};

const javascriptLanguage: Language = {
  words: {},
  read: (name) => `process.env.${name}`,
  open: '${',
  template: (text) => `\`${text}\``,
};

/** A variable of the environment. Those of GraphQL documents begin with a small letter. */
const variable = /\$([A-Z][A-Z_]*)/g;

function writeLiteral(value: unknown, indentation: number, { words, read, open, template }: Language): string {
  return JSON.stringify(value, null, indentation).replace(/"(?:[^"\\]|\\.)*"?|[^"]+/g, (part) => {
    if (!part.startsWith('"')) return part.replace(/null|true|false/g, (word) => words[word] ?? word);
    const text = part.slice(1, -1);
    const [whole, name] = [...text.matchAll(variable)][0] ?? [];
    if (name === undefined) return part;
    return whole === text ? read(name) : template(text.replace(variable, (_, each) => `${open}${read(each)}}`));
  });
}
