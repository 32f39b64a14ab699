import { z } from 'zod';
import { type Annotations, annotationRegistry } from './annotations.ts';
import { docsConfig } from './definition.ts';
import type { Kind } from './json.ts';

/** The definition of a value without zod's wrappers: what the rules are based on. */
export type SchemaModel = ObjectModel | StringModel | PlainModel;

/** An object with known fields. */
export interface ObjectModel extends Described {
  readonly kind: 'object';
  readonly fields: ReadonlyMap<string, SchemaModel>;
  /** The fields whose absence has a diagnostic, by its code. */
  readonly absent: Readonly<Record<Absent, string[]>>;
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

/** The diagnostics for a missing field. */
export type Absent = 'required' | 'missing-field' | 'background-incomplete';

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
    const fields = new Map<string, SchemaModel>();
    const absent: ObjectModel['absent'] = { required: [], 'missing-field': [], 'background-incomplete': [] };
    const model: ObjectModel = { kind: 'object', fields, absent, ...described };
    models.set(schema, model); // before its fields, because a group holds groups
    for (const [key, value] of Object.entries(def.shape)) {
      const inner = unwrap(value);
      const field = toModel(inner);
      fields.set(key, field);
      const code = field.annotations.absent ?? (inner === value ? 'required' : undefined);
      if (code) absent[code].push(key);
    }
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

/** A schema inside its wrappers, which say that it may be missing. */
export function unwrap(schema: z.core.$ZodType): z.core.$ZodType {
  let inner = schema;
  while (inner instanceof z.ZodOptional || inner instanceof z.ZodDefault || inner instanceof z.ZodPrefault)
    inner = inner.def.innerType;
  return inner;
}

/** The part of a model that applies to values of a JSON type, so that a union yields one diagnostic and not one per branch. */
export function branchFor(model: SchemaModel, kind: Kind): SchemaModel | undefined {
  if (model.kind === 'union') {
    for (const branch of model.branches) if (branchFor(branch, kind)) return branch;
    return undefined;
  }
  return model.kind === kind || (model.kind === 'enum' && kind === 'string') ? model : undefined;
}

/** The model of the document. */
export const docsConfigModel = toModel(docsConfig) as ObjectModel;
