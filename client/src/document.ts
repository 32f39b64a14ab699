/**
 * An operation with the types of its result and its variables: a `TypedDocumentNode`, or what GraphQL Code Generator makes
 * instead.
 */
export interface TypedDocument<Result, Variables> {
  /** Only for the compiler; has no value. */
  readonly __apiType?: (variables: Variables) => Result;
}

/** The text of an operation with the types of its result and its variables. */
export type TypedText<Result, Variables> = string & TypedDocument<Result, Variables>;

/** A node of a syntax tree, as the package `graphql` defines it. */
// biome-ignore lint/suspicious/noExplicitAny: the members depend on the kind
type Node = Readonly<Record<string, any>>;

/** The text of an operation: as it is, or printed if it is a syntax tree. */
export function textOf(document: string | object): string {
  return typeof document === 'object' && 'kind' in document ? print(document) : String(document);
}

/** Strings and comments: the words in them are of no operation. */
const asides = /"""(?:\\"""|[\s\S])*?"""|"(?:\\.|[^"\\])*"|#[^\n\r]*/g;

/** The type and the name of the operation in a text: `query` if it says none, and an empty name. */
export function operationOf(text: string): { readonly type: string; readonly name: string } {
  // Where a definition begins: fields, arguments and variables may have these names too.
  const start = /(?:^|\})[\s,]*(query|mutation|subscription)\b[\s,]*(\w*)[\s,]*[({@]/;
  const [, type = 'query', name = ''] = start.exec(text.replace(asides, ' ')) ?? [];
  return { type, name };
}

const list = (nodes: readonly Node[] | undefined, open = '', close = ''): string =>
  nodes?.length ? open + nodes.map(print).join(' ') + close : '';

/** The text of a syntax tree of an operation, without the package `graphql`. */
function print(node: Node | undefined): string {
  if (!node) return '';
  const { kind, value, directives, selectionSet } = node;
  const name = print(node['name']);
  const rest = ` ${list(directives)}${print(selectionSet)}`;
  const args = list(node['arguments'], '(', ')');
  const condition = node['typeCondition'] ? ` on ${print(node['typeCondition'])}` : '';
  switch (kind) {
    case 'Document':
      return list(node['definitions']);
    case 'OperationDefinition':
      return `${node['operation']} ${name}${list(node['variableDefinitions'], '(', ')')}${rest}`;
    case 'FragmentDefinition':
      return `fragment ${name}${condition}${rest}`;
    case 'VariableDefinition':
      return `${print(node['variable'])}:${print(node['type'])}${node['defaultValue'] ? `=${print(node['defaultValue'])}` : ''}${rest}`;
    case 'SelectionSet':
      return list(node['selections'], '{', '}');
    case 'Field':
      return `${node['alias'] ? `${print(node['alias'])}:` : ''}${name}${args}${rest}`;
    case 'FragmentSpread':
      return `...${name}${rest}`;
    case 'InlineFragment':
      return `...${condition}${rest}`;
    case 'Directive':
      return `@${name}${args}`;
    case 'Argument':
    case 'ObjectField':
      return `${name}:${print(value)}`;
    case 'Variable':
      return `$${name}`;
    case 'NamedType':
      return name;
    case 'ListType':
      return `[${print(node['type'])}]`;
    case 'NonNullType':
      return `${print(node['type'])}!`;
    case 'ListValue':
      return `[${list(node['values'])}]`;
    case 'ObjectValue':
      return `{${list(node['fields'])}}`;
    case 'NullValue':
      return 'null';
    case 'StringValue':
      return JSON.stringify(value);
    default: // names, numbers, booleans and enums
      return String(value);
  }
}
