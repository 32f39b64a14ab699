import { docsConfigShape, type ObjectShape, type Shape, type UnionShape } from '../../docs-config/shape.ts';
import { builder } from './builder.ts';

/** An object of the document, by field. */
type Members = Readonly<Record<string, unknown>>;

/** A field's type. The types are made as the program runs, so the compiler cannot know them: it takes them for strings. */
interface FieldType {
  readonly type: 'String';
  readonly isList: boolean;
}

/** A string where the format takes a string or an object: unions have objects for members only. */
const TextType = builder.objectRef<{ text: string }>('DocsConfigText').implement({
  description: 'A plain string, where the format takes a string or an object.',
  isTypeOf: (value) => typeof value === 'object' && value !== null && 'text' in value,
  fields: (t) => ({ text: t.exposeString('text', { description: 'The string.' }) }),
});

const newObject = (name: string) => builder.objectRef<Members>(name);

const newEnum = (name: string, description: string, values: Record<string, { value: string; description: string }>) =>
  builder.enumType(name, { description, values });

const objects = new Map<ObjectShape, ReturnType<typeof newObject>>();
const enums = new Map<string, ReturnType<typeof newEnum>>();

/** The type of the whole document, made from the one definition of the format. */
export const DocsConfigType = objectType(docsConfigShape, 'DocsConfig');

function objectType(shape: ObjectShape, name: string): ReturnType<typeof newObject> {
  const known = objects.get(shape);
  if (known) return known;
  const ref = newObject(shape.id ? `DocsConfig${shape.id}` : name);
  objects.set(shape, ref); // before its fields, because a group holds groups
  const fields = [...shape.fields].map(([key, field]) => ({ key, ...field, ...typeOf(field.shape, name + pascalCase(key)) }));
  ref.implement({
    description: shape.description,
    isTypeOf: (value) => typeof value === 'object' && value !== null && !('text' in value),
    fields: (t) =>
      Object.fromEntries(
        fields.map(({ key, shape: fieldShape, description, present, type, isList }) => {
          const resolve = (members: Members) => asOutput(fieldShape, members[key]) as never;
          const options = { description, nullable: !present, resolve };
          return [camelCase(key), isList ? t.field({ ...options, type: [type] }) : t.field({ ...options, type })];
        }),
      ),
  });
  return ref;
}

function typeOf(shape: Shape, name: string): FieldType {
  switch (shape.kind) {
    case 'object':
      return one(objectType(shape, name));
    case 'array':
      return { ...typeOf(shape.element, singular(name)), isList: true };
    case 'enum':
      return one(enumType(shape.values, shape.description, name));
    case 'union':
      return unionType(shape, name);
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
function unionType({ branches, description }: UnionShape, name: string): FieldType {
  const object = branches.find((branch) => branch.kind === 'object');
  if (!object) return { ...one('String'), isList: true };
  return one(builder.unionType(name, { description, types: [TextType, objectType(object, `${name}Object`)] }));
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

/** A value of the normalised document in the form that its type has. */
function asOutput(shape: Shape, value: unknown): unknown {
  if (shape.kind === 'array' && Array.isArray(value)) return value.map((item) => asOutput(shape.element, item));
  if (shape.kind !== 'union' || typeof value !== 'string') return value;
  return shape.branches.some(({ kind }) => kind === 'object') ? { text: value } : [value];
}

function words(key: string): string[] {
  return key.split(/[-_]/);
}

function capitalise(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

function pascalCase(key: string): string {
  return words(key).map(capitalise).join('');
}

function camelCase(key: string): string {
  return words(key)
    .map((word, index) => (index === 0 ? word : capitalise(word)))
    .join('');
}

function constantCase(value: string): string {
  return words(value).join('_').toUpperCase();
}

function singular(name: string): string {
  return name.endsWith('s') ? name.slice(0, -1) : `${name}Item`;
}
