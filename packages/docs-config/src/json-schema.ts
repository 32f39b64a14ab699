import { z } from 'zod';
import { type Annotations, annotationRegistry } from './annotations.ts';
import { docsConfig } from './definition.ts';
import { unwrap } from './model.ts';
import { newerFile } from './rules/document.ts';

/** The validation options that the JSON Schema agrees with. */
export interface JsonSchemaOptions {
  /** Treats warnings as errors: rejects unknown keys, missing fields and empty values. */
  readonly strict?: boolean;
  /** Allows groups inside the pages of a group. */
  readonly allowNestedGroups?: boolean;
}

type Node = z.core.JSONSchema.JSONSchema;

/**
 * Creates the JSON Schema 2020-12 of the configuration file for editors, with descriptions, defaults and enumerations. It accepts
 * the documents without an error, except for rules that JSON Schema cannot express.
 */
export function docsConfigJsonSchema(options: JsonSchemaOptions = {}): Node {
  const schema = z.toJSONSchema(docsConfig, {
    target: 'draft-2020-12',
    io: 'input',
    override: ({ zodSchema, jsonSchema }) => complete(zodSchema, jsonSchema as Node, options),
  }) as Node;
  const { $schema, ...rest } = schema;
  const properties = {
    // Of any type: no rule checks it, but the address of the newer format.
    $schema: { description: 'Address of this schema, for editors.', not: { type: 'string', pattern: newerFile.source } } as Node,
    ...rest.properties,
  };
  return { ...($schema && { $schema }), title: 'Documentation site configuration', ...rest, properties };
}

function complete(zodSchema: z.core.$ZodType, node: Node, options: JsonSchemaOptions): void {
  const { def } = zodSchema._zod;
  const annotations = annotationRegistry.get(zodSchema as z.ZodType) ?? {};
  // Editors do not use the default of an object that is missing.
  if (def.type === 'prefault') delete node.default;
  if (def.type === 'object') completeObject(zodSchema as z.ZodObject, node, annotations, options);
  if (annotations.nested && !options.allowNestedGroups) keepFirstBranch(node);
  if (options.strict && annotations.filled) {
    if (def.type === 'array') node.minItems = 1;
    else node.pattern = '\\S';
  }
}

function completeObject(zodSchema: z.ZodObject, node: Node, annotations: Annotations, { strict }: JsonSchemaOptions): void {
  if (strict) {
    const missing = Object.entries(zodSchema.shape).filter(([, field]) => findAnnotations(field).absent === 'missing-field');
    const required = [...(node.required ?? []), ...missing.map(([key]) => key)];
    if (required.length > 0) node.required = required;
    node.additionalProperties = false;
    if (!annotations.platforms) node.patternProperties = { '^\\$schema$': {} };
  }
  if (annotations.platforms) node.additionalProperties = false;
  // An unknown key is a warning: accepted, but editors mark it as deprecated.
  else if (!strict) node.additionalProperties = { deprecated: true, description: 'Not part of the format: it is ignored.' };
  if (!annotations.when) return;
  const { field, is, orAbsent, requires, form } = annotations.when;
  const type = 'object';
  node.if = { type, properties: { [field]: { const: is } }, ...(!orAbsent && { required: [field] }) };
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  node.then = {
    type,
    ...(requires && { required: [requires], properties: { [requires]: {} } }),
    ...(form && { properties: { [form.field]: { type: 'string', pattern: form.pattern } } }),
  };
}

/** The annotations of a field, which are registered for the schema inside its wrappers. */
const findAnnotations = (field: z.core.$ZodType): Annotations => annotationRegistry.get(unwrap(field) as z.ZodType) ?? {};

function keepFirstBranch(node: Node): void {
  const [first] = node.anyOf ?? [];
  delete node.anyOf;
  Object.assign(node, first);
}
