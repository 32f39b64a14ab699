import fc from 'fast-check';
import type { DrawnValue } from './values.ts';

/** Any JSON. */
export const anyJson = fc.jsonValue({ maxDepth: 2 });

const names = ['a', 'name', 'navigation', 'logo', '__proto__', 'constructor', 'value'];

const numbers = ['0', '-0', '1', '1.0', '1e3', '1.50', '1E-2', '123456789012345678901234567890', '1e400', '-7'];

type VariableOf = (type: string) => fc.Arbitrary<DrawnValue>;

/**
 * A JSON value as it is written in a document.
 *
 * @param known values that mean something here.
 * @param variable draws a variable inside of it; without, there are none.
 */
export function jsonLiteral(known: readonly unknown[] | undefined, variable: VariableOf | undefined): fc.Arbitrary<DrawnValue> {
  const free = depthLimited(2, variable);
  if (!known) return free;
  const meant = fc.constantFrom(...known).map(written);
  if (!variable) return fc.oneof({ weight: 3, arbitrary: meant }, free);
  const withVariable = fc
    .tuple(meant, fc.nat(20), variableTypes.chain(variable))
    .map(([value, position, drawn]) => replaceLeaf(value, position % Math.max(1, countLeaves(value)), drawn));
  return fc.oneof({ weight: 2, arbitrary: meant }, { weight: 3, arbitrary: withVariable }, free);
}

/** What the variables inside of a JSON literal are declared as; validation accepts any type. */
const variableTypes = fc.constantFrom('String!', 'String!', 'String!', 'String', 'Int', 'JSON', 'Boolean!', '[ID!]');

function countLeaves(value: DrawnValue): number {
  return partsOf(value)?.reduce((sum, part) => sum + countLeaves(part), 0) ?? 1;
}

function partsOf(value: DrawnValue): readonly DrawnValue[] | undefined {
  if (value.kind === 'list') return value.items;
  return value.kind === 'object' ? value.fields.map(([, field]) => field) : undefined;
}

/** The value with the leaf at a position, counted from the first, replaced. */
function replaceLeaf(value: DrawnValue, position: number, leaf: DrawnValue): DrawnValue {
  const parts = partsOf(value);
  if (!parts) return position === 0 ? leaf : value;
  let before = 0;
  const replaced = parts.map((part) => {
    const at = position - before;
    const count = countLeaves(part);
    before += count;
    return at >= 0 && at < count ? replaceLeaf(part, at, leaf) : part;
  });
  if (value.kind === 'object')
    return { kind: 'object', fields: value.fields.map(([name], i) => [name, replaced[i] as DrawnValue]) };
  return { kind: 'list', items: replaced };
}

function depthLimited(depth: number, variable: VariableOf | undefined): fc.Arbitrary<DrawnValue> {
  const plain = fc.oneof(
    fc.constantFrom('Acme', 'ä€', '', '#fff', '5').map(written),
    fc.constantFrom(true, false, null).map(written),
    fc.constantFrom(...numbers).map((literal): DrawnValue => ({ kind: 'leaf', literal, json: Number(literal) })),
  );
  const leaf = variable
    ? fc.oneof({ weight: 3, arbitrary: plain }, { weight: 2, arbitrary: variableTypes.chain(variable) })
    : plain;
  if (depth === 0) return leaf;
  const inner = depthLimited(depth - 1, variable);
  const object = fc
    .array(fc.tuple(fc.constantFrom(...names), inner), { maxLength: 3 })
    .map((fields): DrawnValue => ({ kind: 'object', fields }));
  const list = fc.array(inner, { maxLength: 3 }).map((items): DrawnValue => ({ kind: 'list', items }));
  return fc.oneof(leaf, object, list);
}

/** JSON in the syntax of GraphQL, where names of members are not quoted. */
function written(json: unknown): DrawnValue {
  if (Array.isArray(json)) return { kind: 'list', items: json.map(written) };
  if (typeof json === 'object' && json !== null) {
    return { kind: 'object', fields: Object.entries(json).map(([name, value]) => [name, written(value)]) };
  }
  return { kind: 'leaf', literal: JSON.stringify(json), json };
}
