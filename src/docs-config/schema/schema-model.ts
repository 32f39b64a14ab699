import type { z } from 'zod';
import { effectiveMembers, type JsonNode, type Member } from '../json/syntax-tree.ts';
import { type Annotations, annotationRegistry } from './annotations.ts';
import { type DocsConfig, docsConfig } from './definition.ts';

/** The definition of a value without zod's wrappers: what rules and normalization are based on. */
export type SchemaModel = ObjectModel | StringModel | PlainModel;

/** An object with known fields. */
export interface ObjectModel extends Described {
  readonly kind: 'object';
  readonly fields: ReadonlyMap<string, Field>;
}

/** A string, possibly with a pattern. */
export interface StringModel extends Described {
  readonly kind: 'string';
  readonly pattern: RegExp | undefined;
}

/** Of the models of a union, the JSON type of the value decides which one applies. */
type PlainModel = Described &
  (
    | { readonly kind: 'array'; readonly element: SchemaModel }
    | { readonly kind: 'enum'; readonly values: readonly string[] }
    | { readonly kind: 'boolean' }
    | { readonly kind: 'union'; readonly branches: readonly SchemaModel[] }
  );

/** A field of an object. */
export interface Field {
  readonly model: SchemaModel;
  readonly description: string;
  /** The diagnostic for a missing field; undefined for an optional one. */
  readonly absent: 'required' | 'missing-field' | 'background-incomplete' | undefined;
  /** Whether the normalized document always contains it. */
  readonly present: boolean;
  /** The default for a missing field: a string, a boolean, or an empty object whose own defaults apply. */
  readonly fallback: string | boolean | object | undefined;
}

interface Described {
  readonly description: string;
  readonly annotations: Annotations;
}

/** A zod schema with its definition. */
type Definition = z.ZodType & { readonly _zod: { readonly def: z.core.$ZodTypes['_zod']['def'] } };

const models = new Map<unknown, SchemaModel>();

function toModel(schema: unknown): SchemaModel {
  const known = models.get(schema);
  if (known) return known;
  const model = createModel(schema as Definition);
  models.set(schema, model);
  return model;
}

function createModel(schema: Definition): SchemaModel {
  const { def } = schema._zod;
  const described = { description: schema.description ?? '', annotations: annotationRegistry.get(schema) ?? {} };
  if (def.type === 'object') {
    const fields = new Map<string, Field>();
    const model: ObjectModel = { kind: 'object', fields, ...described };
    models.set(schema, model); // before its fields, because a group holds groups
    for (const [key, value] of Object.entries(def.shape)) fields.set(key, toField(value as unknown as Definition));
    return model;
  }
  if (def.type === 'array') return { kind: 'array', element: toModel(def.element), ...described };
  if (def.type === 'union') return { kind: 'union', branches: def.options.map(toModel), ...described };
  if (def.type === 'enum') return { kind: 'enum', values: Object.values(def.entries).map(String), ...described };
  if (def.type === 'boolean') return { kind: 'boolean', ...described };
  if (def.type === 'string') {
    const [pattern] = (def.checks ?? []).flatMap((check) => (check._zod.def as { pattern?: RegExp }).pattern ?? []);
    return { kind: 'string', pattern, ...described };
  }
  throw new TypeError(`The schema uses the zod type ${def.type}, which has no model.`);
}

function toField(schema: Definition): Field {
  let inner = schema;
  let optional = false;
  let fallback: Field['fallback'];
  for (;;) {
    const { def } = inner._zod;
    if (def.type === 'optional') optional = true;
    else if (def.type === 'default' || def.type === 'prefault') fallback = def.defaultValue as Field['fallback'];
    else break;
    inner = def.innerType as unknown as Definition;
  }
  const model = toModel(inner);
  const mayBeAbsent = optional || fallback !== undefined;
  const absent = model.annotations.absent ?? (mayBeAbsent ? undefined : 'required');
  return { model, description: model.description, absent, present: !optional, fallback };
}

/** The part of a model that applies to values of a JSON type, so that a union yields one diagnostic and not one per branch. */
export function branchFor(model: SchemaModel, kind: JsonNode['kind']): SchemaModel | undefined {
  if (model.kind === 'union') return model.branches.find((branch) => branchFor(branch, kind));
  return model.kind === kind || (model.kind === 'enum' && kind === 'string') ? model : undefined;
}

/** The model of the document. */
export const docsConfigModel = toModel(docsConfig) as ObjectModel;

/**
 * Fills in every default and drops fields that are not part of the schema. A value that does not match, which is possible only
 * when its diagnostic was turned off, counts as missing. Null when a required value is missing.
 */
export function normalize(root: JsonNode): DocsConfig | null {
  return (normalizeValue(root, docsConfigModel) as DocsConfig | undefined) ?? null;
}

function normalizeValue(node: JsonNode, model: SchemaModel): unknown {
  const branch = branchFor(model, node.kind);
  if (!branch) return undefined;
  if (branch.kind === 'object') return normalizeObject(branch, effectiveMembers(node));
  if (node.kind === 'array' && branch.kind === 'array') {
    return node.items.map((item) => normalizeValue(item, branch.element)).filter((item) => item !== undefined);
  }
  if (node.kind === 'boolean') return node.value;
  if (node.kind !== 'string') return undefined;
  const { value } = node;
  const isAccepted =
    branch.kind === 'enum' ? branch.values.includes(value) : branch.kind === 'string' && branch.pattern?.test(value) !== false;
  return isAccepted ? value : undefined;
}

/** Sets only keys of the schema, so no key of a document can reach a prototype. */
function normalizeObject(model: ObjectModel, members: ReadonlyMap<string, Member>): object | undefined {
  const result: Record<string, unknown> = {};
  for (const [key, field] of model.fields) {
    const node = members.get(key)?.value;
    const value = (node && normalizeValue(node, field.model)) ?? createFallback(field);
    if (value !== undefined) result[key] = value;
    else if (field.present) return undefined;
  }
  return result;
}

function createFallback({ fallback, model }: Field): unknown {
  return typeof fallback === 'object' && model.kind === 'object' ? normalizeObject(model, new Map()) : fallback;
}
