import fc from 'fast-check';
import type { GraphQLObjectType, GraphQLSchema } from 'graphql';
import { type Known, namedValues, repeatableValues } from './known.ts';
import { renderOperation } from './render.ts';
import { type DrawnSelection, SelectionArbitraries } from './selections.ts';
import { ValueArbitraries } from './values.ts';

/**
 * Who sends a request: with every scope for groups and files, with `admin`, with none that a mutation needs, without a
 * credential.
 */
export type CallerKind = 'groups' | 'admin' | 'metrics' | 'anonymous';

/** A document with all that goes with it, to be sent several times. */
export interface GeneratedRequest {
  readonly query: unknown;
  /** What the uses of the document supply, one after the other. */
  readonly variables: readonly unknown[];
  /** The parameters besides query and variables. */
  readonly others: Readonly<Record<string, unknown>>;
  readonly accept: string | undefined;
  readonly caller: CallerKind;
}

/** How deep selections go. */
const depth = 6;

/** Mutations that callers with every scope send: with values under which a second time gives the same response. */
const repeatable = [
  'getOrCreateUserGroup',
  'getOrCreateUserGroups',
  'updateUserGroup',
  'rotateUserGroupToken',
  'createEmbedToken',
];

/** Fields that a repeated mutation changes, or that are never the same again. */
const changing: ReadonlySet<string> = new Set([
  'UserGroup.updatedAt',
  'UserGroup.version',
  'CreateEmbedTokenPayload.token',
  'CreateEmbedTokenPayload.expiresAt',
]);

/** The `Accept` headers that clients send, the usual and some that are not. */
const acceptHeaders = [
  undefined,
  '*/*',
  'application/json',
  'application/json, text/plain, */*',
  'application/graphql-response+json',
  'application/graphql-response+json, application/json',
  'application/graphql-response+json,application/json;q=0.9',
  'application/json; charset=utf-8',
  'APPLICATION/JSON',
  '',
];

/** Texts that are not documents of this schema. */
const brokenTexts: readonly unknown[] = [
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
  '{ ...F } fragment F on Query { ...F }',
  '{ a: caller { name } a: caller { id } }',
  'mutation { __typename }',
  '{ userGroup(by: { teamId: 1, teamId: 2 }) { name } }',
  `query { ${'a: __typename '.repeat(600)} }`,
  `query ${'{ a '.repeat(500)}${'}'.repeat(500)}`,
  undefined,
  null,
  5,
  ['{ __typename }'],
  {},
];

/** Every construct that not all documents have. */
const everything = { nested: true, fragments: true, directives: true, requiredLeaves: false, simple: false };

/** Requests drawn from a schema: whatever fields, arguments and types it has. */
export function requestsOf(schema: GraphQLSchema, known: Known): fc.Arbitrary<GeneratedRequest> {
  const named = namedValues(known);
  const query = schema.getQueryType() as GraphQLObjectType;
  const mutation = schema.getMutationType() as GraphQLObjectType;
  const someCaller = fc.constantFrom<CallerKind[]>('groups', 'groups', 'groups', 'admin', 'admin', 'metrics', 'anonymous');
  const selectionsWith = ({ nested = false, requiredLeaves = false, ...has }: Partial<typeof everything>, onlyNamed = false) =>
    new SelectionArbitraries(
      schema,
      new ValueArbitraries({ named: onlyNamed ? repeatableValues(known) : named, onlyNamed, nested, requiredLeaves }),
      {
        fragments: false,
        directives: false,
        simple: false,
        ...has,
        selects: (coordinate) => !onlyNamed || !changing.has(coordinate),
      },
    );
  const queriesWith = (has: Partial<typeof everything>) => {
    const many = selectionsWith(has).of(query, depth);
    // Half of them with one root field: one of several that is not compiled would keep the others from it.
    return requestOf(
      'query',
      query.name,
      fc.oneof(
        many.map((list) => list.slice(0, 1)),
        many,
      ),
      someCaller,
    );
  };

  const rejected = selectionsWith(everything).of(mutation, 4);
  const rejectedMutations = requestOf('mutation', mutation.name, rejected, fc.constantFrom('metrics', 'anonymous'));
  const safe = selectionsWith(everything, true);
  const repeated = fc.array(fc.oneof(...repeatable.flatMap((name) => safe.root(mutation, name, 4) ?? [])), {
    minLength: 1,
    maxLength: 2,
  });
  const repeatedMutations = requestOf('mutation', mutation.name, repeated, fc.constantFrom('groups', 'admin'));
  return fc.oneof(
    // Apart and together: what one construct keeps from being compiled is not seen of another one next to it.
    { weight: 6, arbitrary: queriesWith({ requiredLeaves: true, simple: true }) },
    { weight: 3, arbitrary: queriesWith({ requiredLeaves: true }) },
    { weight: 6, arbitrary: queriesWith({ requiredLeaves: true, nested: true }) },
    { weight: 3, arbitrary: queriesWith({}) },
    { weight: 3, arbitrary: queriesWith({ nested: true }) },
    { weight: 2, arbitrary: queriesWith({ requiredLeaves: true, fragments: true }) },
    { weight: 2, arbitrary: queriesWith({ requiredLeaves: true, directives: true }) },
    { weight: 5, arbitrary: queriesWith(everything) },
    { weight: 2, arbitrary: rejectedMutations },
    { weight: 2, arbitrary: repeatedMutations },
    { weight: 1, arbitrary: broken },
  );
}

type Parameters = Readonly<Record<string, unknown>>;

/** Parameters besides the query and its variables that a server must not trip over. */
const oddParameters = fc.constantFrom<Parameters>(
  { extensions: {} },
  { extensions: { cost: true } },
  { extensions: null },
  { extensions: 'x' },
  { extensions: [] },
  { id: 'x' },
  { doc_id: 1 },
  { operationName: 5 },
  { operationName: {} },
  { operationName: '' },
  { operationName: null },
);

const noParameters: Parameters = {};
const otherParameters = fc.oneof({ weight: 14, arbitrary: fc.constant(noParameters) }, { weight: 1, arbitrary: oddParameters });

/** `undefined`: the drawn variables are sent; else what is sent in their place. */
const oddVariables = fc.oneof(
  { weight: 30, arbitrary: fc.constant(undefined) },
  { weight: 1, arbitrary: fc.constantFrom<unknown>(null, [], 'x', { unused: 1 }, 5) },
);

const accept = fc.oneof(
  { weight: 3, arbitrary: fc.constant(undefined) },
  { weight: 2, arbitrary: fc.constantFrom(...acceptHeaders) },
);

/** What a second operation in the document is: most documents have none. */
const second = fc.oneof(
  { weight: 9, arbitrary: fc.constant(undefined) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      '{ __typename }',
      ...['query', 'mutation'].map((kind) => `${kind} Second { __typename }`),
      'query First { a }',
    ),
  },
);

/** Damage to a document that was valid. */
const damage = fc.oneof(
  { weight: 25, arbitrary: fc.constant((text: string) => text) },
  {
    weight: 1,
    arbitrary: fc.constantFrom<((text: string) => string)[]>(
      (text) => text.replace('}', ' nonsense }'),
      (text) => text.replace(/\}$/, ''),
      (text) => text.replace(/\([^)]*\)/, ''),
      (text) => text.replace('{', '{ a: __typename a: caller { id }'),
      (text) => `${text} fragment Unused on UserGroup { name }`,
      (text) => `${text} #`,
      (text) => text.replaceAll(' ', '\n\t'),
      (text) => text.replaceAll(' ', ' ,\ufeff'),
      (text) => text.replace('$', '$undefined_'),
    ),
  },
);

function requestOf(
  kind: 'query' | 'mutation',
  type: string,
  selections: fc.Arbitrary<readonly DrawnSelection[]>,
  caller: fc.Arbitrary<CallerKind>,
): fc.Arbitrary<GeneratedRequest> {
  const ownName = fc.constantFrom('', '', '', 'First');
  const operationName = fc.constantFrom<(string | undefined)[]>(undefined, 'First', 'First', 'First', 'First', 'Second', 'Third');
  return fc
    .record({ selections, caller, ownName, second, operationName, odd: oddVariables, others: otherParameters, damage, accept })
    .map((drawn) => {
      // Of several operations each has a name.
      const name = drawn.second ? 'First' : drawn.ownName;
      const head = name === '' && kind === 'query' ? '' : `${kind} ${name}`.trim();
      const { text, fragments, variables } = renderOperation({ head, type, selections: drawn.selections }, '');
      const document = drawn.damage([text, fragments, drawn.second].filter(Boolean).join(' '));
      const isNamed = name !== '';
      return {
        query: document,
        variables: drawn.odd === undefined ? variables : [drawn.odd],
        others: { ...(isNamed && drawn.operationName && { operationName: drawn.operationName }), ...drawn.others },
        accept: drawn.accept,
        caller: drawn.caller,
      };
    });
}

const broken: fc.Arbitrary<GeneratedRequest> = fc.record({
  query: fc.constantFrom(...brokenTexts),
  variables: fc.constant([undefined]),
  others: oddParameters,
  accept,
  caller: fc.constantFrom('groups', 'anonymous'),
});
