import { docsConfigModel, type ObjectModel, type SchemaModel, type UnionModel } from '../../docs-config/schema/schema-model.ts';
import { builder } from './builder.ts';

/** An object of the document, by field name. */
type Members = Readonly<Record<string, unknown>>;

/** A field's type. The types are created at run time, so the compiler cannot know them and treats them as strings. */
interface FieldType {
  readonly type: 'String';
  readonly isList: boolean;
}

/** A string where the schema accepts a string or an object, because members of a union must be objects. */
const TextType = builder.objectRef<{ text: string }>('DocsConfigText').implement({
  description: 'A plain string, where the format takes a string or an object.',
  isTypeOf: (value) => typeof value === 'object' && value !== null && 'text' in value,
  fields: (t) => ({ text: t.exposeString('text', { description: 'The string.' }) }),
});

const newObject = (name: string) => builder.objectRef<Members>(name);

const newEnum = (name: string, description: string, values: Record<string, { value: string; description: string }>) =>
  builder.enumType(name, { description, values });

const objects = new Map<ObjectModel, ReturnType<typeof newObject>>();
const enums = new Map<string, ReturnType<typeof newEnum>>();

/** The type of the document, derived from its schema. */
export const DocsConfigType = createObjectType(docsConfigModel, 'DocsConfig');

function createObjectType(model: ObjectModel, name: string): ReturnType<typeof newObject> {
  const known = objects.get(model);
  if (known) return known;
  const ref = newObject(model.id ? `DocsConfig${model.id}` : name);
  objects.set(model, ref); // before its fields, because a group holds groups
  const fields = [...model.fields].map(([key, field]) => ({ key, ...field, ...typeOf(field.model, name + pascalCase(key)) }));
  ref.implement({
    description: model.description,
    isTypeOf: (value) => typeof value === 'object' && value !== null && !('text' in value),
    fields: (t) =>
      Object.fromEntries(
        fields.map(({ key, model: fieldModel, description, present, type, isList }) => {
          const resolve = (members: Members) => toOutput(fieldModel, members[key]) as never;
          const options = { description, nullable: !present, resolve };
          return [camelCase(key), isList ? t.field({ ...options, type: [type] }) : t.field({ ...options, type })];
        }),
      ),
  });
  return ref;
}

function typeOf(model: SchemaModel, name: string): FieldType {
  switch (model.kind) {
    case 'object':
      return one(createObjectType(model, name));
    case 'array':
      return { ...typeOf(model.element, singular(name)), isList: true };
    case 'enum':
      return one(enumType(model.values, model.description, name));
    case 'union':
      return unionType(model, name);
    case 'boolean':
      return one('Boolean');
    case 'string':
      return one('String');
  }
}

function one(type: unknown): FieldType {
  return { type: type as 'String', isList: false };
}

/** A string or a list of strings is a list; a string or an object is a union. */
function unionType({ branches, description }: UnionModel, name: string): FieldType {
  const object = branches.find((branch) => branch.kind === 'object');
  if (!object) return { ...one('String'), isList: true };
  return one(builder.unionType(name, { description, types: [TextType, createObjectType(object, `${name}Object`)] }));
}

/** Lists of the same values are one type, named after the field that has it first. */
function enumType(values: readonly string[], description: string, name: string): ReturnType<typeof newEnum> {
  const known = enums.get(values.join());
  if (known) return known;
  const entries = values.map((value) => [constantCase(value), { value, description: `\`${value}\`.` }] as const);
  const ref = newEnum(name, description, Object.fromEntries(entries));
  enums.set(values.join(), ref);
  return ref;
}

/** Converts a value of the normalized document to its GraphQL type. */
function toOutput(model: SchemaModel, value: unknown): unknown {
  if (model.kind === 'array' && Array.isArray(value)) return value.map((item) => toOutput(model.element, item));
  if (model.kind !== 'union' || typeof value !== 'string') return value;
  return model.branches.some(({ kind }) => kind === 'object') ? { text: value } : [value];
}

function splitWords(key: string): string[] {
  return key.split(/[-_]/);
}

function capitalize(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

function pascalCase(key: string): string {
  return splitWords(key).map(capitalize).join('');
}

function camelCase(key: string): string {
  return splitWords(key)
    .map((word, index) => (index === 0 ? word : capitalize(word)))
    .join('');
}

function constantCase(value: string): string {
  return splitWords(value).join('_').toUpperCase();
}

function singular(name: string): string {
  return name.endsWith('s') ? name.slice(0, -1) : `${name}Item`;
}
