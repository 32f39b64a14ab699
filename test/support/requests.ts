import fc from 'fast-check';

/** A GraphQL request, as its parameters. */
export interface GeneratedRequest {
  readonly query: string;
  readonly variables?: Record<string, unknown> | null;
  readonly operationName?: string | null | undefined;
}

/** Values that are there: one group's ways of being meant. */
export interface KnownGroup {
  readonly id: string;
  readonly teamId: number;
  readonly providedId: string;
  readonly token: string;
}

/** Requests made from the schema: valid ones, ones that break its rules, and ones that mean harm. */
export function requests(known: KnownGroup): fc.Arbitrary<GeneratedRequest> {
  return fc.oneof(
    { weight: 6, arbitrary: query(known) },
    { weight: 3, arbitrary: mutation(known) },
    { weight: 2, arbitrary: withVariables(known) },
    { weight: 1, arbitrary: broken(known) },
  );
}

const leaf = fc.constantFrom(
  ...['id', 'teamId', 'providedId', 'name', 'token', 'environmentTag', 'properties', '__typename', 'createdAt'],
  ...['mapping { schemaId dataSource }', 'mapping { __typename source: dataSource }', 'alias: name', 'a: teamId b: teamId'],
);
const condition = fc.constantFrom('', '', '', ' @include(if: true)', ' @skip(if: true)', ' @include(if: false)');
const selection = fc
  .array(fc.tuple(leaf, condition), { minLength: 1, maxLength: 6 })
  .map((fields) => fields.map(([field, directive]) => (field.includes(' ') ? field : `${field}${directive}`)).join(' '));

const groupSelection = fc.oneof(
  selection,
  selection.map((fields) => `... on UserGroup { ${fields} }`),
  selection.map((fields) => `...Fields __typename } fragment Fields on UserGroup { ${fields}`),
);

function by(known: KnownGroup): fc.Arbitrary<string> {
  return fc.constantFrom(
    ...[
      `{ id: "${known.id}" }`,
      `{ teamId: ${known.teamId} }`,
      `{ providedId: "${known.providedId}" }`,
      `{ token: "${known.token}" }`,
    ],
    ...['{ id: "nonsense" }', '{ teamId: -1 }', '{ providedId: "nobody" }', '{ token: "ugt_short" }', '{ providedId: "" }'],
    ...[`{ teamId: ${known.teamId}, providedId: "x" }`, '{ }', '{ teamId: "1" }', '{ token: null }', '{ name: "x" }'],
  );
}

function query(known: KnownGroup): fc.Arbitrary<GeneratedRequest> {
  const root = fc.oneof(
    fc.tuple(by(known), groupSelection).map(([argument, fields]) => `userGroup(by: ${argument}) { ${fields} }`),
    selection.map((fields) => `node(id: "${known.id}") { id ... on UserGroup { ${fields} } }`),
    fc.constantFrom(
      ...[`nodes(ids: ["${known.id}", "none"]) { __typename id }`, 'caller { name scopes environmentTag }', '__typename'],
      ...[
        '__schema { queryType { name } }',
        '__type(name: "UserGroup") { name fields { name } }',
        'caller { nothing }',
        'nobody',
      ],
      `first: userGroup(by: { teamId: ${known.teamId} }) { name } second: userGroup(by: { providedId: "" }) { name }`,
      `__proto__: userGroup(by: { teamId: ${known.teamId} }) { constructor: name }`,
    ),
  );
  // A fragment's definition closes the operation's brace itself, so that the text stays balanced.
  return root.map((field) => ({ query: `query { ${field} }` }));
}

function mutation(known: KnownGroup): fc.Arbitrary<GeneratedRequest> {
  const failure = '... on Error { __typename code message } ... on InvalidInput { issues { path message } }';
  const input = fc.constantFrom(
    ...[`{ providedId: "${known.providedId}" }`, `{ providedId: "${known.providedId}", name: null, mapping: [] }`],
    ...[
      '{ providedId: "" }',
      '{ name: "no id" }',
      '{ providedId: 5 }',
      '{ providedId: "untagged" }',
      '{ providedId: "x\\u0000" }',
    ],
    `{ providedId: "${known.providedId}", properties: { a: 1e400, b: [true, null, { c: "d" }] } }`,
  );
  const change = fc.constantFrom('name: "Same"', 'properties: { plan: "gold" }', 'mapping: null', 'name: ""', 'properties: [1]');
  return fc.oneof(
    fc.tuple(input, selection).map(([value, fields]) => ({
      query: `mutation { getOrCreateUserGroup(input: ${value}) { ... on GetOrCreateUserGroupPayload { created userGroup { ${fields} } } ${failure} } }`,
    })),
    fc.tuple(by(known), change, selection).map(([argument, value, fields]) => ({
      query: `mutation { updateUserGroup(input: { by: ${argument}, ${value} }) { ... on UpdateUserGroupPayload { userGroup { ${fields} } } ${failure} } }`,
    })),
    fc.constantFrom('ugt_000000000000000000000000000000000000', '', 'x'.repeat(300), 'not a token at all').map((token) => ({
      query: `mutation { rotateUserGroupToken(input: { currentToken: "${token}", graceSeconds: 5 }) { __typename ${failure} } }`,
    })),
  );
}

function withVariables(known: KnownGroup): fc.Arbitrary<GeneratedRequest> {
  const value = fc.constantFrom<unknown>(
    known.token,
    known.providedId,
    known.teamId,
    '',
    null,
    1.5,
    true,
    [],
    {},
    'nobody',
    2 ** 40,
    {
      providedId: known.providedId,
    },
  );
  const declared = fc.constantFrom(
    ['$v: String!', 'userGroup(by: { token: $v })'],
    ['$v: String', 'userGroup(by: { token: $v })'],
    ['$v: String = "nobody"', 'userGroup(by: { providedId: "x", token: $v })'],
    ['$v: Int!', 'userGroup(by: { teamId: $v })'],
    ['$v: ID!', 'userGroup(by: { id: $v })'],
    ['$v: UserGroupBy!', 'userGroup(by: $v)'],
    ['$v: Boolean!', `userGroup(by: { teamId: ${known.teamId} }) @include(if: $v)`],
  );
  const variables = fc.oneof(
    { weight: 5, arbitrary: value.map((v): Record<string, unknown> => ({ v })) },
    { weight: 1, arbitrary: fc.constantFrom<Record<string, unknown> | null>({}, null, { v: 'x', unused: 1 }, { V: 1 }) },
  );
  const operationName = fc.constantFrom<string | null | undefined>(undefined, undefined, null, 'Named', 'Other', '');
  return fc.record({ declared, variables, operationName }).map(({ declared: [variable, field], ...rest }) => ({
    query: `query Named(${variable}) { ${field} { teamId name } }`,
    ...rest,
  }));
}

function broken(known: KnownGroup): fc.Arbitrary<GeneratedRequest> {
  const texts = [
    ...[
      '',
      ' ',
      '{',
      '}',
      '{ userGroup }',
      'query { caller { name }',
      'subscription { x }',
      '\u0000',
      '# only a comment',
      'null',
    ],
    ...[
      '{ ...F } fragment F on Query { ...F }',
      'query A { __typename } query B { caller { name } }',
      '{ a: caller { name } a: caller { id } }',
    ],
    ...[
      `{ userGroup(by: { teamId: ${known.teamId} }) { name { deeper } } }`,
      '{ userGroup(by: { teamId: 1, teamId: 2 }) { name } }',
    ],
    ...[`query { ${'a: __typename '.repeat(600)} }`, `query ${'{ a '.repeat(500)}${'}'.repeat(500)}`, 'mutation { __typename }'],
  ];
  return fc
    .record({ query: fc.constantFrom(...texts), operationName: fc.constantFrom(undefined, 'A', 'B', 'C') })
    .map(({ operationName, ...rest }) => ({ ...rest, ...(operationName && { operationName }) }));
}
