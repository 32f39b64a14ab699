import {
  type ASTVisitor,
  type DocumentNode,
  type FieldNode,
  GraphQLError,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isAbstractType,
  isListType,
  isObjectType,
  Kind,
  Lexer,
  NoSchemaIntrospectionCustomRule,
  type OperationDefinitionNode,
  OperationTypeNode,
  parse,
  type SelectionSetNode,
  Source,
  specifiedRules,
  TokenKind,
  type ValidationContext,
  validate,
  valueFromASTUntyped,
} from 'graphql';
import { GatewayError } from '../errors.ts';

/** The limits of a GraphQL request. docs/limits.md lists the same figures. */
export const graphqlLimits = {
  /** Characters of a document. */
  maxDocumentCharacters: 65_536,
  /** Tokens (names, values, punctuation) of a document. Introspection as common clients send it has about 200. */
  maxTokens: 1_500,
  /** Nested selection sets of an operation, those of its fragments included. */
  maxDepth: 30,
  /** How often one response name may occur in one selection set: validation compares each pair of them. */
  maxRepeatedFields: 100,
  /** The cost of an operation. */
  maxCost: 30_000,
  /** Values of up to 64 KiB in a response. */
  maxHeavyFields: 300,
  /** Errors of one response about the document or its variables, and characters of one error's message. */
  maxErrors: 10,
  maxMessageLength: 1_000,
} as const;

const { maxCost, maxDepth, maxDocumentCharacters, maxErrors, maxHeavyFields, maxRepeatedFields, maxTokens } = graphqlLimits;

/** How many items a list is taken to have whose field does not say it. */
const defaultListSize = 10;

/** What `__schema` and `__type` cost: about as many fields as the schema has. graphql-js bounds their depth. */
const introspectionCost = 2_000;

/** What the text of an operation decides of its execution, whatever its variables are. */
export interface OperationCost {
  readonly cost: number;
  readonly heavy: number;
  readonly depth: number;
  /** The fields on its root type, those of introspection not included. */
  readonly roots: number;
}

const nothing: OperationCost = { cost: 0, heavy: 0, depth: 0, roots: 0 };

const costs = new WeakMap<OperationDefinitionNode, OperationCost>();

/** The cost of an operation whose document was validated with {@link CostRule}. */
export const costOf = (operation: OperationDefinitionNode): OperationCost => costs.get(operation) ?? nothing;

/** Whether an operation selects heavy fields anywhere: otherwise their columns need not be read. */
export const readsHeavy = ({ operation }: GraphQLResolveInfo): boolean => costOf(operation).heavy > 0;

/** The error for a document that exceeds a limit. */
function tooCostly(message: string, extensions: Readonly<Record<string, unknown>> = {}): GraphQLError {
  return new GraphQLError(message, { extensions, originalError: new GatewayError('QUERY_TOO_COSTLY', message) });
}

/** Parses a document. @throws GraphQLError for a syntax error, and with `QUERY_TOO_COSTLY` over a limit. */
export function parseDocument(text: string): DocumentNode {
  if (text.length > maxDocumentCharacters) {
    throw tooCostly(`The document exceeds the limit of ${maxDocumentCharacters} characters. Send long values as variables.`);
  }
  try {
    return parse(text, { maxTokens });
  } catch (error) {
    throw hasTooManyTokens(text)
      ? tooCostly(`The document exceeds the limit of ${maxTokens} tokens. Request fewer fields.`)
      : error;
  }
}

function hasTooManyTokens(text: string): boolean {
  const lexer = new Lexer(new Source(text));
  try {
    for (let count = 0; count <= maxTokens; count += 1) if (lexer.advance().kind === TokenKind.EOF) return false;
    return true;
  } catch {
    return false;
  }
}

/** Validates a document; its limits first, because other rules may take long. @param introspection whether it is permitted. */
export function validateDocument(schema: GraphQLSchema, document: DocumentNode, introspection: boolean) {
  const [overLimit] = validate(schema, document, [CostRule], { maxErrors });
  if (overLimit) return [overLimit];
  const rules = introspection ? specifiedRules : [...specifiedRules, NoSchemaIntrospectionCustomRule];
  return validate(schema, document, rules, { maxErrors, hideSuggestions: !introspection });
}

/**
 * The validation rule for cost and depth. Every field costs 1, a root field {@link lookUpCost} more, and what its extension adds.
 * What is below a list counts as often as the list has items: by its literal argument, else at most.
 */
function CostRule(context: ValidationContext): ASTVisitor {
  const schema = context.getSchema();
  const measured = new Map<SelectionSetNode, Map<string, OperationCost>>();
  let variables: Record<string, symbol> = {};

  function measure(selectionSet: SelectionSetNode, type: GraphQLNamedType | undefined, page: number): OperationCost {
    if (isAbstractType(type)) {
      const parts = schema.getPossibleTypes(type).map((possible) => measure(selectionSet, possible, page));
      return parts.reduce((a, b) => combine(a, b, Math.max), nothing);
    }
    if (!isObjectType(type)) return nothing;
    const ofSelection = measured.get(selectionSet) ?? new Map<string, OperationCost>();
    measured.set(selectionSet, ofSelection);
    const key = `${type.name} ${page}`;
    const known = ofSelection.get(key);
    if (known) return known;
    ofSelection.set(key, nothing); // another rule reports fragments that contain themselves
    let total = nothing;
    for (const selection of selectionSet.selections) {
      if (selection.kind === Kind.FIELD) {
        total = combine(total, measureField(selection, type, page), add);
        continue;
      }
      const fragment =
        selection.kind === Kind.INLINE_FRAGMENT ? selection : (context.getFragment(selection.name.value) ?? undefined);
      const condition = fragment?.typeCondition && schema.getType(fragment.typeCondition.name.value);
      const applies = !condition || condition === type || (isAbstractType(condition) && schema.isSubType(condition, type));
      if (fragment && applies) total = combine(total, measure(fragment.selectionSet, type, page), add);
    }
    ofSelection.set(key, total);
    return total;
  }

  function measureField(field: FieldNode, parent: GraphQLObjectType, page: number): OperationCost {
    const definition = parent.getFields()[field.name.value];
    if (!definition) return { ...nothing, cost: field.selectionSet ? introspectionCost : 1 };
    const extensions = definition.extensions as FieldCost;
    const { listSize, pageSize, isPage, heavy = 0 } = extensions;
    const given = field.arguments?.map(({ name, value }) => [name.value, valueFromASTUntyped(value, variables)]) ?? [];
    const args = Object.fromEntries(given);
    const isList = isListType(getNullableType(definition.type));
    const size = isPage ? page : (listSize?.(args) ?? (isList ? defaultListSize : 1));
    const child = field.selectionSet
      ? measure(field.selectionSet, getNamedType(definition.type), pageSize?.(args) ?? 1)
      : nothing;
    const isRoot = parent === schema.getQueryType() || parent === schema.getMutationType();
    const own = 1 + (isRoot ? lookUpCost : 0) + (extensions.cost?.(args) ?? 0);
    return {
      cost: own + size * child.cost,
      heavy: heavy + size * child.heavy,
      depth: 1 + child.depth,
      roots: isRoot ? 1 : 0,
    };
  }

  return {
    Document({ definitions }) {
      const operations = definitions.filter(({ kind }) => kind === Kind.OPERATION_DEFINITION) as OperationDefinitionNode[];
      const names = operations.flatMap(({ variableDefinitions = [] }) =>
        variableDefinitions.map(({ variable }) => variable.name),
      );
      variables = Object.fromEntries(names.map(({ value }) => [value, aVariable]));
      for (const operation of operations) {
        const total = measure(operation.selectionSet, schema.getRootType(operation.operation) ?? undefined, 1);
        costs.set(operation, total);
        const { cost, heavy, depth } = total;
        if (operation.operation === OperationTypeNode.SUBSCRIPTION) {
          const message = 'Subscriptions are not supported. Send a query or a mutation.';
          context.reportError(new GraphQLError(message, { nodes: operation }));
        }
        if (depth > maxDepth) context.reportError(tooCostly(`The operation exceeds the limit of ${maxDepth} levels of nesting.`));
        if (cost > maxCost) {
          const message = `The operation costs ${cost}; the limit is ${maxCost}. Request fewer fields or items.`;
          context.reportError(tooCostly(message, { cost, limit: maxCost }));
        }
        if (heavy > maxHeavyFields) {
          const message = `The operation reads up to ${heavy} large values (properties, mapping, dataSource; changes count twice); the limit is ${maxHeavyFields}. Request fewer items; a number or a list in a variable counts as its maximum.`;
          context.reportError(tooCostly(message));
        }
      }
    },
    SelectionSet({ selections }) {
      const counts = new Map<string, number>();
      for (const selection of selections) {
        if (selection.kind !== Kind.FIELD) continue;
        const name = (selection.alias ?? selection.name).value;
        const count = (counts.get(name) ?? 0) + 1;
        counts.set(name, count);
        if (count !== maxRepeatedFields + 1) continue;
        context.reportError(tooCostly(`"${name}" exceeds the limit of ${maxRepeatedFields} uses in one selection set.`));
      }
    },
    Field(node) {
      if (!node.alias || !context.getParentType()?.name.startsWith('__')) return;
      context.reportError(tooCostly(`A field within introspection cannot have an alias: "${node.alias.value}".`));
    },
  };
}

/** Stands for the value of a variable. */
const aVariable = Symbol('variable');

const add = (a: number, b: number): number => a + b;

const combine = (a: OperationCost, b: OperationCost, by: (a: number, b: number) => number): OperationCost => ({
  cost: by(a.cost, b.cost),
  heavy: by(a.heavy, b.heavy),
  roots: a.roots + b.roots,
  depth: Math.max(a.depth, b.depth),
});

/** Arguments as the document has them: unchecked, and with a symbol in the place of each variable. */
export type RawVariables = Readonly<Record<string, unknown>>;

/** What a root field costs beyond the 1 of every field, because it queries the database. */
export const lookUpCost = 20;

/** What a list with the argument `filter` costs: a filtered page may take as long as many look-ups. */
export const filterCost = ({ filter }: RawVariables): number => (filter == null ? 0 : 300);

/** The cost of a field, in its `extensions`. */
export interface FieldCost {
  /** What resolving it costs beyond the 1 of every field. */
  readonly cost?: (args: RawVariables) => number;
  /** How many items its list has, at most. */
  readonly listSize?: (args: RawVariables) => number;
  /** How many items the page of a connection has, at most: what is below its fields with {@link isPage} counts so often. */
  readonly pageSize?: (args: RawVariables) => number;
  readonly isPage?: true;
  /** How many values of up to 64 KiB it has. */
  readonly heavy?: number;
}
