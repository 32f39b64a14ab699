import fc from 'fast-check';
import { docsConfigShape, type Field, type ObjectShape, type Shape } from '../../src/docs-config/schema/schema-model.ts';

const hexDigit = fc.constantFrom(...'0123456789abcdefABCDEF');
const hex = fc
  .constantFrom(3, 6)
  .chain((length) => fc.array(hexDigit, { minLength: length, maxLength: length }))
  .map((digits) => `#${digits.join('')}`);
const word = fc.string({ minLength: 1, maxLength: 12, unit: 'grapheme' }).filter((text) => text.trim() !== '');

/** Documents made from the format, nothing else: every required field, any of the others. Rules between fields are kept. */
export function documents(options: { nested: boolean }): fc.Arbitrary<Record<string, unknown>> {
  return anyOf(docsConfigShape, options, 0).map((value) => value as Record<string, unknown>);
}

function anyOf(shape: Shape, options: { nested: boolean }, depth: number): fc.Arbitrary<unknown> {
  if (shape.kind === 'boolean') return fc.boolean();
  if (shape.kind === 'enum') return fc.constantFrom(...shape.values);
  if (shape.kind === 'string') return shape.pattern ? hex : word;
  if (shape.kind === 'array') return fc.array(anyOf(shape.element, options, depth + 1), { minLength: 1, maxLength: 3 });
  if (shape.kind === 'object') return objectOf(shape, options, depth);
  const branches = shape.notes.nested && (!options.nested || depth > 4) ? shape.branches.slice(0, 1) : shape.branches;
  return fc.oneof(...branches.map((branch) => anyOf(branch, options, depth)));
}

function objectOf(shape: ObjectShape, options: { nested: boolean }, depth: number): fc.Arbitrary<unknown> {
  const entries = [...shape.fields].map(([key, field]) => fieldOf(key, field, options, depth));
  return fc.tuple(...entries).map((fields) => {
    const value: Record<string, unknown> = Object.fromEntries(fields.flatMap((field) => (field ? [field] : [])));
    const condition = shape.notes.when;
    if (condition?.requires && (value[condition.field] ?? condition.is) === condition.is) value[condition.requires] ??= 'Go';
    if (condition?.form && value[condition.field] === condition.is && condition.form.field in value)
      value[condition.form.field] = 'a:b';
    return value;
  });
}

function fieldOf(
  key: string,
  field: Field,
  options: { nested: boolean },
  depth: number,
): fc.Arbitrary<[string, unknown] | undefined> {
  const entry = anyOf(field.shape, options, depth + 1).map((value): [string, unknown] => [key, value]);
  return field.absent ? entry : fc.option(entry, { nil: undefined });
}

/** A value in a document: where it stands, what the format has there, and the object or array that holds it. */
export interface Spot {
  readonly path: readonly (string | number)[];
  readonly shape: Shape;
  readonly field: Field | undefined;
  readonly value: unknown;
}

/** Every value of a document that the format knows, the document itself first. */
export function spots(
  value: unknown,
  shape: Shape = docsConfigShape,
  path: readonly (string | number)[] = [],
  field?: Field,
): Spot[] {
  const branch = shape.kind === 'union' ? shape.branches.find((one) => fits(one, value)) : shape;
  const own: Spot = { path, shape, field, value };
  if (branch?.kind === 'array' && Array.isArray(value)) {
    return [own, ...value.flatMap((item, index) => spots(item, branch.element, [...path, index]))];
  }
  if (branch?.kind !== 'object' || typeof value !== 'object' || value === null) return [own];
  const below = Object.entries(value).flatMap(([key, item]) => {
    const known = branch.fields.get(key);
    return known ? spots(item, known.shape, [...path, key], known) : [];
  });
  return [own, ...below];
}

function fits(shape: Shape, value: unknown): boolean {
  if (shape.kind === 'object') return typeof value === 'object' && !Array.isArray(value);
  if (shape.kind === 'array') return Array.isArray(value);
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
