// Generates from the .graphql files below web/console and client/src and the attributes of user groups, checked against
// schema.graphql: typed documents for console and client, lists for the console, and a list of the documents of each. The gateway
// executes those of the console besides the ones in PERSISTED_OPERATIONS. All are committed, so that starting and testing need no
// generator. With --check, changes nothing and fails if the committed files differ.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { codegen } from '@graphql-codegen/core';
import * as operationTypes from '@graphql-codegen/typescript-operations';
import { buildSchema, parse, print, separateOperations, stripIgnoredCharacters, validate, visit } from 'graphql';
import { givenAttributes } from '../src/user-groups/attributes.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const schemaText = readFileSync(join(root, 'schema.graphql'), 'utf8');
const schema = buildSchema(schemaText);

const texts = givenAttributes.filter(([, { graphql }]) => graphql.type === 'String');
/** What the .graphql files name without a list of their own: every attribute that callers give, and the texts among them. */
const fragments = `
  fragment GroupAttributes on UserGroup {
    ${givenAttributes.map(([name, { graphql }]) => (graphql.type === 'DataSourceMapping' ? `${name} { schemaId dataSource }` : name))}
  }
  fragment GroupTexts on UserGroup { ${texts.map(([name]) => name)} }`;

const web = await generate('web/console');
const client = await generate('client/src', { inlineFragmentTypes: 'combine', omitOperationSuffix: true });

const lists = [
  listOf('scopes', 'Scope', 'Every scope of API tokens: its name outside of GraphQL, and what it allows.'),
  listOf('eventTypes', 'EventType', 'Every type of event of the audit log: its name outside of GraphQL, and what it means.'),
  textList(),
  errorList(),
];
const constants = web.documents.map(
  ({ name, kind, text }) =>
    `export const ${name} = document<${name}${kind}, ${name}${kind}Variables>(\n  ${JSON.stringify(text)},\n);\n`,
);
const clientConstants = client.documents.map(
  ({ name, text }) => `export const ${name} = ${JSON.stringify(text)} as TypedText<${name}, ${name}Variables>;\n`,
);
const header =
  '// Generated from the .graphql files below web/console and the attributes of user groups by `npm run generate`. Do not edit.\n';
const clientHeader =
  '// Generated from operations.graphql and the attributes of user groups by `npm run generate`. Do not edit.\n';
const files = {
  'web/console/graphql/generated.ts': `${header}import { document } from './document.ts';\n\n${lists.join('\n')}\n${web.types}\n${constants.join('\n')}`,
  'client/src/generated.ts': `${clientHeader}import type { TypedText } from './document.ts';\n\n${client.types}\n${clientConstants.join('\n')}`,
  'client/operations.json': manifestOf(client.documents),
  'src/generated/console-operations.json': manifestOf(web.documents),
};
for (const [file, text] of Object.entries(files)) {
  if (!process.argv.includes('--check')) writeFileSync(join(root, file), text);
  else if (readFileSync(join(root, file), 'utf8') !== text) {
    process.stderr.write(`${file} differs from what is generated; run npm run generate.\n`);
    process.exitCode = 1;
  }
}

/** The documents of the operations in the .graphql files below a folder, sorted by name, and their types. */
async function generate(folder, config = {}) {
  const sources = readdirSync(join(root, folder), { recursive: true })
    .filter((name) => name.endsWith('.graphql'))
    .sort()
    .map((name) => ({ location: name, document: parse(readFileSync(join(root, folder, name), 'utf8')) }));
  const used = new Set(sources.flatMap(({ document }) => spreadsIn(document)));
  const definitions = parse(fragments).definitions.filter(({ name }) => used.has(name.value));
  sources.push({ location: 'src/user-groups/attributes.ts', document: { kind: 'Document', definitions } });
  const all = { kind: 'Document', definitions: sources.flatMap(({ document }) => document.definitions) };
  const errors = validate(schema, all);
  if (errors.length > 0) {
    process.stderr.write(`${errors.join('\n\n')}\n`);
    process.exit(1);
  }
  const types = await codegen({
    filename: 'generated.ts',
    schema: parse(schemaText),
    schemaAst: schema,
    documents: sources,
    config: {
      scalars: { DateTime: 'string', JSON: 'unknown', ID: 'string' },
      immutableTypes: true,
      arrayInputCoercion: false,
      useTypeImports: true,
      enumType: 'string-literal',
      skipTypename: true,
      ...config,
    },
    plugins: [{ operations: {} }],
    pluginMap: { operations: operationTypes },
  });
  const documents = Object.entries(separateOperations(all))
    .map(([name, document]) => ({ name, kind: kindOf(document), text: stripIgnoredCharacters(print(document)) }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  return { types: withComments(types, sources), documents };
}

/** Types, with the comment of the fragment that each is of. */
function withComments(types, sources) {
  const definitions = sources.flatMap(({ document }) => document.definitions);
  return definitions.reduce((text, { kind, name, loc }) => {
    const { kind: token, value } = loc.startToken.prev;
    if (kind !== 'FragmentDefinition' || token !== 'Comment') return text;
    return text.replace(`export type ${name.value} = `, `/**${value} */\n$&`);
  }, types);
}

/** The names of the fragments that a document spreads. */
function spreadsIn(document) {
  const names = [];
  visit(document, { FragmentSpread: ({ name }) => void names.push(name.value) });
  return names;
}

/** A constant with the attributes of groups that are a line of text. */
function textList() {
  const list = texts.map(([name, { member, label, nullable, isFiltered }]) => {
    return { name, member, label, isRequired: !nullable, isFiltered: isFiltered === true };
  });
  const comment =
    'The texts that callers give a user group: the field of GraphQL, the member of files, and what the console calls it.';
  return `/** ${comment} */\nexport const textAttributes = ${JSON.stringify(list, null, 2)} as const;\n`;
}

/** A constant with the codes of errors. */
function errorList() {
  const codes = schema
    .getType('ErrorCode')
    .getValues()
    .map(({ name }) => name);
  const comment = 'Every code of an error of the gateway: one with another code is of a proxy.';
  return `/** ${comment} */\nexport const errorCodes: ReadonlySet<unknown> = new Set(${JSON.stringify(codes)});\n`;
}

/** A constant with the values of an enum whose descriptions begin with another name of the value. */
function listOf(constant, type, comment) {
  const object = {};
  for (const { name: value, description } of schema.getType(type).getValues()) {
    const [, name, meaning] = /^`([^`]+)`: (.+)\.$/.exec(description);
    object[value] = { name, meaning };
  }
  return `/** ${comment} */\nexport const ${constant} = ${JSON.stringify(object, null, 2)} as const;\n`;
}

/** The texts of documents by their SHA-256, as PERSISTED_OPERATIONS takes them. */
function manifestOf(documents) {
  return `${JSON.stringify(Object.fromEntries(documents.map(({ text }) => [hash(text), text])), null, 2)}\n`;
}

function kindOf({ definitions }) {
  const { operation } = definitions.find(({ kind }) => kind === 'OperationDefinition');
  return operation === 'query' ? 'Query' : 'Mutation';
}

function hash(text) {
  return createHash('sha256').update(text).digest('hex');
}
