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
import { buildSchema, parse, print, separateOperations, stripIgnoredCharacters, validate } from 'graphql';
import { givenAttributes } from '../src/user-groups/attributes.ts';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));
const schemaText = readFileSync('schema.graphql', 'utf8');
const schema = buildSchema(schemaText);
const valuesOf = (type) => schema.getType(type).getValues();

const texts = givenAttributes.filter(([, { graphql }]) => graphql.type === 'String');
/** What the .graphql files name without a list of their own: every attribute that callers give, and the texts among them. */
const fragments = {
  GroupAttributes: givenAttributes.map(([name, { graphql }]) =>
    graphql.type === 'DataSourceMapping' ? `${name} { schemaId dataSource }` : name,
  ),
  GroupTexts: texts.map(([name]) => name),
};

const web = await generate('web/console');
const client = await generate('client/src', { inlineFragmentTypes: 'combine', omitOperationSuffix: true });

const lists = [
  enumList('scopes', 'Scope', 'Every scope of API tokens: its name outside of GraphQL, and what it allows.'),
  enumList('eventTypes', 'EventType', 'Every type of event of the audit log: its name outside of GraphQL, and what it means.'),
  `/** The texts that callers give a user group: the field of GraphQL, the member of files, and what the console calls it. */
export const textAttributes = ${json(
    texts.map(([name, { member, label, nullable, isFiltered }]) => {
      return { name, member, label, isRequired: !nullable, isFiltered: isFiltered === true };
    }),
  )} as const;\n`,
  `/** Every code of an error of the gateway: one with another code is of a proxy. */
export const errorCodes: ReadonlySet<unknown> = new Set(${JSON.stringify(valuesOf('ErrorCode').map(({ name }) => name))});\n`,
];
const constants = web.documents.map(
  ({ name, kind, text }) =>
    `export const ${name} = document<${name}${kind}, ${name}${kind}Variables>(\n  ${JSON.stringify(text)},\n);\n`,
);
const clientConstants = client.documents.map(
  ({ name, text }) => `export const ${name} = ${JSON.stringify(text)} as TypedText<${name}, ${name}Variables>;\n`,
);
const header = (from) => `// Generated from ${from} and the attributes of user groups by \`npm run generate\`. Do not edit.\n`;
const files = {
  'web/console/graphql/generated.ts': `${header('the .graphql files below web/console')}import { document } from './document.ts';\n\n${lists.join('\n')}\n${web.types}\n${constants.join('\n')}`,
  'client/src/generated.ts': `${header('operations.graphql')}import type { TypedText } from './document.ts';\n\n${client.types}\n${clientConstants.join('\n')}`,
  'client/operations.json': manifestOf(client.documents),
  'src/generated/console-operations.json': manifestOf(web.documents),
};
for (const [file, text] of Object.entries(files)) {
  if (!process.argv.includes('--check')) writeFileSync(file, text);
  else if (readFileSync(file, 'utf8') !== text) {
    process.stderr.write(`${file} differs from what is generated; run npm run generate.\n`);
    process.exitCode = 1;
  }
}

/** The documents of the operations in the .graphql files below a folder, sorted by name, and their types. */
async function generate(folder, config = {}) {
  const names = readdirSync(folder, { recursive: true }).filter((name) => name.endsWith('.graphql'));
  const sources = names.sort().map((location) => ({ location, text: readFileSync(join(folder, location), 'utf8') }));
  const written = sources.map(({ text }) => text).join('\n');
  for (const [name, fields] of Object.entries(fragments))
    if (written.includes(`...${name}`)) sources.push({ location: name, text: `fragment ${name} on UserGroup { ${fields} }` });
  const documents = sources.map(({ location, text }) => ({ location, document: parse(text) }));
  const all = { kind: 'Document', definitions: documents.flatMap(({ document }) => document.definitions) };
  const errors = validate(schema, all);
  if (errors.length > 0) throw new Error(errors.join('\n\n'));
  const types = await codegen({
    filename: 'generated.ts',
    schema: parse(schemaText),
    schemaAst: schema,
    documents,
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
  // Types get the comments of their fragments.
  const comments = [...written.matchAll(/^#(.*)\nfragment (\w+) /gm)];
  const commented = comments.reduce(
    (text, [, comment, name]) => text.replace(`export type ${name} = `, `/**${comment} */\n$&`),
    types,
  );
  const operations = Object.entries(separateOperations(all)).map(([name, document]) => ({
    name,
    kind: document.definitions.some(({ operation }) => operation === 'query') ? 'Query' : 'Mutation',
    text: stripIgnoredCharacters(print(document)),
  }));
  return { types: commented, documents: operations.sort((a, b) => (a.name < b.name ? -1 : 1)) };
}

/** A constant with the values of an enum whose descriptions begin with another name of the value. */
function enumList(constant, type, comment) {
  const entries = valuesOf(type).map(({ name: value, description }) => {
    const [, name, meaning] = /^`([^`]+)`: (.+)\.$/.exec(description);
    return [value, { name, meaning }];
  });
  return `/** ${comment} */\nexport const ${constant} = ${json(Object.fromEntries(entries))} as const;\n`;
}

/** The texts of documents by their SHA-256, as PERSISTED_OPERATIONS takes them. */
function manifestOf(documents) {
  const entries = documents.map(({ text }) => [createHash('sha256').update(text).digest('hex'), text]);
  return `${json(Object.fromEntries(entries))}\n`;
}

function json(value) {
  return JSON.stringify(value, null, 2);
}
