import {
  type GraphQLInputType,
  type GraphQLOutputType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isNonNullType,
  isObjectType,
  Kind,
  parse,
  type SelectionSetNode,
} from 'graphql';
import { userGroupLimits } from '../domain/limits.ts';
import type { JsonSchema } from '../http/openapi/types.ts';
import { environmentName } from './legacy.ts';
import type { Operation } from './user.ts';

const { maxMappingEntries, maxTextLength } = userGroupLimits;

const side: JsonSchema = { type: 'string', maxLength: maxTextLength };

/** The schemas of the values in a request, by the named GraphQL type of their input field. */
const inputSchemas: Readonly<Record<string, JsonSchema>> = {
  String: { type: 'string', minLength: 1, maxLength: maxTextLength },
  DataSourceMappingInput: { type: 'object', maxProperties: maxMappingEntries, propertyNames: side, additionalProperties: side },
  JSON: { type: 'object', additionalProperties: true },
};

/** What the GraphQL description of an input field does not say in terms of the legacy API, by the same names. */
const inputNotes: Readonly<Record<string, string>> = {
  DataSourceMappingInput: `An object from schema id to data source, both of at most ${maxTextLength} characters.`,
  JSON: 'A number that cannot be represented exactly is rejected; send it as a string.',
};

/** The schemas of the values in a response, by their named GraphQL type. */
const outputTypes: Readonly<Record<string, string>> = { Int: 'integer', String: 'string', Boolean: 'boolean', JSON: 'object' };

/** The name of the GraphQL field that an operation's document selects, and its description. */
export function fieldOf(schema: GraphQLSchema, { document }: Operation): { name: string; description: string } {
  const { field } = resolve(schema, document);
  return { name: field.name, description: field.description ?? '' };
}

/** The schema of each member of a request, from the input fields that the members stand for. */
export function requestMembers(schema: GraphQLSchema, operation: Operation): Record<string, JsonSchema> {
  const { field } = resolve(schema, operation.document);
  const input = field.args.find(({ name }) => name === 'input');
  if (!input) throw new Error(`The operation ${field.name} has no input.`);
  return Object.fromEntries(
    Object.entries(operation.members).map(([member, path]) => [
      member,
      inputSchema(input.type, path.split('.'), operation.nullable.includes(member)),
    ]),
  );
}

function inputSchema(type: GraphQLInputType, [name = '', ...rest]: readonly string[], isNullable: boolean): JsonSchema {
  const object = getNamedType(type);
  const field = isInputObjectType(object) ? object.getFields()[name] : undefined;
  if (!field) throw new Error(`${object.name} has no field ${name}.`);
  if (rest.length > 0) return inputSchema(field.type, rest, isNullable);
  const { name: typeName } = getNamedType(field.type);
  const base = inputSchemas[typeName];
  if (!base) throw new Error(`The type ${typeName} of ${object.name}.${name} has no JSON Schema.`);
  const description = [field.description, inputNotes[typeName]].filter(Boolean).join(' ');
  return { ...base, ...(isNullable && { type: [String(base.type), 'null'] }), description };
}

/** The schema of a success: the members that the operation's document selects, under their aliases. */
export function successSchema(schema: GraphQLSchema, { document }: Operation): JsonSchema {
  const { field, selections } = resolve(schema, document);
  const payload = selections.flatMap((selection) => {
    if (selection.kind !== Kind.INLINE_FRAGMENT) return [];
    const name = selection.typeCondition?.name.value ?? '';
    return name.endsWith('Payload') ? [{ type: schema.getType(name) as GraphQLOutputType, set: selection.selectionSet }] : [];
  })[0];
  if (!payload) throw new Error(`The document of ${field.name} selects no payload.`);
  const { properties = {} } = outputSchema(payload.type, payload.set);
  return closedObject({ success: { type: 'integer', const: 1, description: 'Always 1.' }, ...properties });
}

const closedObject = (properties: Readonly<Record<string, JsonSchema>>, description?: string): JsonSchema => ({
  type: 'object',
  ...(description && { description }),
  additionalProperties: false,
  required: Object.keys(properties),
  properties,
});

function outputSchema(type: GraphQLOutputType, set: SelectionSetNode | undefined, description?: string): JsonSchema {
  const nullable = !isNonNullType(type);
  const named = getNullableType(type);
  if (isObjectType(named) && set) {
    const properties = set.selections.flatMap((selection) => {
      if (selection.kind !== Kind.FIELD) return [];
      const field = named.getFields()[selection.name.value];
      if (!field) throw new Error(`${named.name} has no field ${selection.name.value}.`);
      const member = selection.alias?.value ?? field.name;
      return [[member, outputSchema(field.type, selection.selectionSet, restDescription(field.description))] as const];
    });
    return closedObject(Object.fromEntries(properties), description);
  }
  const described = { ...(description && { description }) };
  if (isEnumType(named)) {
    const names = named.getValues().map(({ name }) => environmentName(name));
    return { type: nullable ? ['string', 'null'] : 'string', enum: nullable ? [...names, null] : names, ...described };
  }
  const base = outputTypes[getNamedType(named).name];
  if (!base) throw new Error(`The type ${getNamedType(named).name} has no JSON Schema.`);
  return { type: nullable ? [base, 'null'] : base, ...described };
}

/**
 * A field's description without what it says about scopes, which differs: one scope is enough for all that a legacy operation
 * returns.
 */
function restDescription(description: string | null | undefined): string {
  return (description ?? '').split(' Requires the scope')[0] ?? '';
}

/** The root field that a document selects, and what it selects of its result. */
function resolve(schema: GraphQLSchema, document: string) {
  const [definition] = parse(document).definitions;
  const [root] = definition?.kind === Kind.OPERATION_DEFINITION ? definition.selectionSet.selections : [];
  const field = root?.kind === Kind.FIELD ? schema.getMutationType()?.getFields()[root.name.value] : undefined;
  if (root?.kind !== Kind.FIELD || !field) throw new Error('The document of a legacy operation must select one mutation.');
  return { field, selections: root.selectionSet?.selections ?? [] };
}
