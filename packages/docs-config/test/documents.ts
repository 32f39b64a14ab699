import fc from 'fast-check';
import { type Absent, docsConfigModel, type ObjectModel, type SchemaModel } from '../src/model.ts';
import { type Report, type ValidateOptions, validate } from '../src/validate.ts';

const hexDigit = fc.constantFrom(...'0123456789abcdefABCDEF');
const hex = fc
  .constantFrom(3, 6)
  .chain((length) => fc.array(hexDigit, { minLength: length, maxLength: length }))
  .map((digits) => `#${digits.join('')}`);
const word = fc.string({ minLength: 1, maxLength: 12, unit: 'grapheme' }).filter((text) => text.trim() !== '');

/** Documents generated from the schema: every required field, any of the others. Conditions between fields hold. */
export function documents(options: { nested: boolean }): fc.Arbitrary<Record<string, unknown>> {
  return anyOf(docsConfigModel, options, 0).map((value) => value as Record<string, unknown>);
}

function anyOf(model: SchemaModel, options: { nested: boolean }, depth: number): fc.Arbitrary<unknown> {
  if (model.kind === 'boolean') return fc.boolean();
  if (model.kind === 'enum') return fc.constantFrom(...model.values);
  if (model.kind === 'string') return model.pattern ? hex : word;
  if (model.kind === 'array') return fc.array(anyOf(model.element, options, depth + 1), { minLength: 1, maxLength: 3 });
  if (model.kind === 'object') return objectOf(model, options, depth);
  const branches = model.annotations.nested && (!options.nested || depth > 4) ? model.branches.slice(0, 1) : model.branches;
  return fc.oneof(...branches.map((branch) => anyOf(branch, options, depth)));
}

function objectOf(model: ObjectModel, options: { nested: boolean }, depth: number): fc.Arbitrary<unknown> {
  const entries = [...model.fields].map(([key, field]) => fieldOf(key, field, isExpected(model, key), options, depth));
  return fc.tuple(...entries).map((fields) => {
    const value: Record<string, unknown> = Object.fromEntries(fields.flatMap((field) => (field ? [field] : [])));
    const condition = model.annotations.when;
    if (condition?.requires && (value[condition.field] ?? condition.is) === condition.is) value[condition.requires] ??= 'Go';
    if (condition?.form && value[condition.field] === condition.is && condition.form.field in value)
      value[condition.form.field] = 'a:b';
    return value;
  });
}

function fieldOf(
  key: string,
  field: SchemaModel,
  expected: boolean,
  options: { nested: boolean },
  depth: number,
): fc.Arbitrary<[string, unknown] | undefined> {
  const entry = anyOf(field, options, depth + 1).map((value): [string, unknown] => [key, value]);
  return expected ? entry : fc.option(entry, { nil: undefined });
}

/** The code of a missing field; undefined for an optional one. */
const absenceOf = (model: ObjectModel, key: string): Absent | undefined =>
  (Object.keys(model.absent) as Absent[]).find((code) => model.absent[code].includes(key));
const isExpected = (model: ObjectModel, key: string): boolean => absenceOf(model, key) !== undefined;

/** A value in a document: its path, its model in the schema, and the code when it is missing. */
export interface Spot {
  readonly path: readonly (string | number)[];
  readonly model: SchemaModel;
  readonly absent: Absent | undefined;
  readonly value: unknown;
}

/** Every value of a document that the schema defines, the document itself first. */
export function spots(
  value: unknown,
  model: SchemaModel = docsConfigModel,
  path: readonly (string | number)[] = [],
  absent?: Absent,
): Spot[] {
  const branch = model.kind === 'union' ? model.branches.find((one) => fits(one, value)) : model;
  const own: Spot = { path, model, absent, value };
  if (branch?.kind === 'array' && Array.isArray(value)) {
    return [own, ...value.flatMap((item, index) => spots(item, branch.element, [...path, index]))];
  }
  if (branch?.kind !== 'object' || typeof value !== 'object' || value === null) return [own];
  const below = Object.entries(value).flatMap(([key, item]) => {
    const known = branch.fields.get(key);
    return known ? spots(item, known, [...path, key], absenceOf(branch, key)) : [];
  });
  return [own, ...below];
}

function fits(model: SchemaModel, value: unknown): boolean {
  if (model.kind === 'object') return typeof value === 'object' && !Array.isArray(value);
  if (model.kind === 'array') return Array.isArray(value);
  return typeof value === 'string';
}

/** A copy of a document with one value replaced, or removed when `undefined`. */
export function withValue(document: unknown, path: readonly (string | number)[], value: unknown): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return value;
  if (Array.isArray(document)) return document.map((item, index) => (index === key ? withValue(item, rest, value) : item));
  const entries = Object.entries(document as object).flatMap(([name, item]): [string, unknown][] => {
    if (name !== key) return [[name, item]];
    const changed = withValue(item, rest, value);
    return changed === undefined ? [] : [[name, changed]];
  });
  return Object.fromEntries(entries);
}

/** The JSON pointer of a path. */
export function pointerOf(path: readonly (string | number)[]): string {
  return path.map((segment) => `/${String(segment).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

/** Validates a document given as a JSON value. Positions refer to its text with an indentation of 2. */
export const validateValue = (value: unknown, options?: ValidateOptions): Report =>
  validate(JSON.stringify(value, null, 2), options);
