import type { z } from 'zod';
import { docsConfig, type FieldNotes, fieldNotes } from './definition.ts';

/** The definition of a value, taken out of zod's wrappers: what the validator, the normaliser and other doors walk over. */
export type Shape = ObjectShape | ArrayShape | StringShape | EnumShape | BooleanShape | UnionShape;

/** An object with known fields. */
export interface ObjectShape extends Described {
  readonly kind: 'object';
  /** The name of a shape that occurs inside itself. */
  readonly id: string | undefined;
  readonly fields: ReadonlyMap<string, Field>;
}

/** An array. */
export interface ArrayShape extends Described {
  readonly kind: 'array';
  readonly element: Shape;
}

/** A string, perhaps of a form. */
export interface StringShape extends Described {
  readonly kind: 'string';
  readonly pattern: RegExp | undefined;
}

/** One of the listed strings. */
export interface EnumShape extends Described {
  readonly kind: 'enum';
  readonly values: readonly string[];
}

/** `true` or `false`. */
export interface BooleanShape extends Described {
  readonly kind: 'boolean';
}

/** One of several shapes; which one, the JSON type of the value tells. */
export interface UnionShape extends Described {
  readonly kind: 'union';
  readonly branches: readonly Shape[];
}

/** A field of an object. */
export interface Field {
  readonly shape: Shape;
  readonly description: string;
  /** The finding when it is absent; undefined when it may be. */
  readonly absent: 'required' | 'missing-field' | 'background-incomplete' | undefined;
  /** Whether the normalised document always has it. */
  readonly present: boolean;
  /** What stands for an absent value: a string, a boolean, or an empty object whose own defaults are then filled in. */
  readonly fallback: string | boolean | object | undefined;
}

interface Described {
  readonly description: string;
  readonly notes: FieldNotes;
}

/** What zod makes of every schema that the format uses. */
type Definition = z.ZodType & { readonly _zod: { readonly def: z.core.$ZodTypes['_zod']['def'] } };

const shapes = new Map<unknown, Shape>();

function shapeOf(schema: unknown): Shape {
  const known = shapes.get(schema);
  if (known) return known;
  const shape = makeShape(schema as Definition);
  shapes.set(schema, shape);
  return shape;
}

function makeShape(schema: Definition): Shape {
  const { def } = schema._zod;
  const described = { description: schema.description ?? '', notes: fieldNotes.get(schema) ?? {} };
  if (def.type === 'object') {
    const fields = new Map<string, Field>();
    const shape: ObjectShape = { kind: 'object', id: schema.meta()?.id, fields, ...described };
    shapes.set(schema, shape); // before its fields, because a group holds groups
    for (const [key, value] of Object.entries(def.shape)) fields.set(key, fieldOf(value as unknown as Definition));
    return shape;
  }
  if (def.type === 'array') return { kind: 'array', element: shapeOf(def.element), ...described };
  if (def.type === 'union') return { kind: 'union', branches: def.options.map(shapeOf), ...described };
  if (def.type === 'enum') return { kind: 'enum', values: Object.values(def.entries).map(String), ...described };
  if (def.type === 'boolean') return { kind: 'boolean', ...described };
  if (def.type === 'string') return { kind: 'string', pattern: patternOf(def), ...described };
  throw new TypeError(`The format uses ${def.type}, which has no shape.`);
}

function fieldOf(schema: Definition): Field {
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
  const shape = shapeOf(inner);
  const mayBeAbsent = optional || fallback !== undefined;
  const absent = shape.notes.absent ?? (mayBeAbsent ? undefined : 'required');
  return { shape, description: shape.description, absent, present: !optional, fallback };
}

function patternOf(def: z.core.$ZodStringDef): RegExp | undefined {
  for (const check of def.checks ?? []) {
    const { pattern } = check._zod.def as { pattern?: RegExp };
    if (pattern) return pattern;
  }
  return undefined;
}

/** The shape of the whole document. */
export const docsConfigShape = shapeOf(docsConfig) as ObjectShape;
