import type { z } from 'zod';
import type { JsonNode } from '../json/syntax-tree.ts';
import { type Annotations, annotationRegistry } from './annotations.ts';
import { docsConfig } from './definition.ts';

/** The definition of a value without zod's wrappers: what rules and normalization are based on. */
export type SchemaModel = ObjectModel | ArrayModel | StringModel | EnumModel | BooleanModel | UnionModel;

/** An object with known fields. */
export interface ObjectModel extends Described {
  readonly kind: 'object';
  readonly fields: ReadonlyMap<string, Field>;
}

/** An array. */
export interface ArrayModel extends Described {
  readonly kind: 'array';
  readonly element: SchemaModel;
}

/** A string, possibly with a pattern. */
export interface StringModel extends Described {
  readonly kind: 'string';
  readonly pattern: RegExp | undefined;
}

/** One of the listed strings. */
export interface EnumModel extends Described {
  readonly kind: 'enum';
  readonly values: readonly string[];
}

/** `true` or `false`. */
export interface BooleanModel extends Described {
  readonly kind: 'boolean';
}

/** One of several models, distinguished by the JSON type of the value. */
export interface UnionModel extends Described {
  readonly kind: 'union';
  readonly branches: readonly SchemaModel[];
}

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
  if (def.type === 'string') return { kind: 'string', pattern: findPattern(def), ...described };
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

function findPattern(def: z.core.$ZodStringDef): RegExp | undefined {
  for (const check of def.checks ?? []) {
    const { pattern } = check._zod.def as { pattern?: RegExp };
    if (pattern) return pattern;
  }
  return undefined;
}

/** The part of a model that applies to values of a JSON type, so that a union yields one diagnostic and not one per branch. */
export function branchFor(model: SchemaModel, kind: JsonNode['kind']): SchemaModel | undefined {
  if (model.kind === 'union') {
    for (const branch of model.branches) if (branchFor(branch, kind)) return branch;
    return undefined;
  }
  return model.kind === kind || (model.kind === 'enum' && kind === 'string') ? model : undefined;
}

/** The model of the document. */
export const docsConfigModel = toModel(docsConfig) as ObjectModel;
