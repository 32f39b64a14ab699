import { z } from 'zod';
import { docsConfig, type FieldNotes, fieldNotes, forms } from './definition.ts';

/** Which of the validator's verdicts the schema is to give. */
export interface JsonSchemaOptions {
  /** Warnings count as errors: unknown keys, missing fields and empty values are refused as well. */
  readonly strict?: boolean;
  /** Groups may stand inside the pages of a group. */
  readonly allowNestedGroups?: boolean;
}

type Node = z.core.JSONSchema.JSONSchema;

/**
 * The JSON Schema 2020-12 of the configuration file, with descriptions, defaults and listed values, for editors. It accepts what
 * the validator finds no error in, apart from rules that JSON Schema cannot state.
 */
export function docsConfigJsonSchema(options: JsonSchemaOptions = {}): Node {
  const schema = z.toJSONSchema(docsConfig, {
    target: 'draft-2020-12',
    io: 'input',
    override: ({ zodSchema, jsonSchema }) => complete(zodSchema, jsonSchema as Node, options),
  }) as Node;
  const { $schema, ...rest } = schema;
  const properties = {
    $schema: { description: 'Address of this schema, for editors.' }, // of any type: no rule looks at it
    ...rest.properties,
  };
  return { ...($schema && { $schema }), title: 'Documentation site configuration', ...rest, properties };
}

function complete(zodSchema: z.core.$ZodType, node: Node, options: JsonSchemaOptions): void {
  const { def } = zodSchema._zod;
  const notes = fieldNotes.get(zodSchema as z.ZodType) ?? {};
  // What an absent object is filled with says nothing to an editor.
  if (def.type === 'prefault') delete node.default;
  if (def.type === 'object') completeObject(zodSchema as z.ZodObject, node, notes, options);
  if (notes.nested && !options.allowNestedGroups) keepFirstBranch(node);
  if (options.strict && notes.filled) {
    if (def.type === 'array') node.minItems = 1;
    else node.pattern = '\\S';
  }
}

function completeObject(zodSchema: z.ZodObject, node: Node, notes: FieldNotes, { strict }: JsonSchemaOptions): void {
  if (strict) {
    const missing = Object.entries(zodSchema.shape).filter(([, field]) => noteOf(field).absent === 'missing-field');
    const required = [...(node.required ?? []), ...missing.map(([key]) => key)];
    if (required.length > 0) node.required = required;
    node.additionalProperties = false;
    if (!notes.platforms) node.patternProperties = { '^\\$schema$': {} };
  }
  if (notes.platforms) node.additionalProperties = false;
  // An unknown key is a warning: accepted, but editors mark what is deprecated.
  else if (!strict) node.additionalProperties = { deprecated: true, description: 'Not part of the format: it is ignored.' };
  if (!notes.when) return;
  const { field, is, orAbsent, requires, form } = notes.when;
  const type = 'object';
  node.if = { type, properties: { [field]: { const: is } }, ...(!orAbsent && { required: [field] }) };
  // biome-ignore lint/suspicious/noThenProperty: the word of JSON Schema
  node.then = {
    type,
    ...(requires && { required: [requires], properties: { [requires]: {} } }),
    ...(form && { properties: { [form.field]: { type: 'string', pattern: forms[form.is].source } } }),
  };
}

/** The notes of a field, which lie on the schema inside its wrappers. */
function noteOf(field: z.core.$ZodType): FieldNotes {
  let inner = field;
  while (inner instanceof z.ZodOptional || inner instanceof z.ZodDefault || inner instanceof z.ZodPrefault)
    inner = inner.def.innerType;
  return fieldNotes.get(inner as z.ZodType) ?? {};
}

function keepFirstBranch(node: Node): void {
  const [first] = node.anyOf ?? [];
  delete node.anyOf;
  Object.assign(node, first);
}
