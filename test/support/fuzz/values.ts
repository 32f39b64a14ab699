import fc from 'fast-check';
import {
  type GraphQLInputField,
  type GraphQLInputType,
  type GraphQLLeafType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isLeafType,
  isListType,
  isNonNullType,
} from 'graphql';
import type { NamedValues } from './known.ts';
import { leaf, scalar, wrongJson } from './scalar-values.ts';

/** A value of an input type, as it is to be written into a document. */
export type DrawnValue =
  | { readonly kind: 'leaf'; readonly literal: string; readonly json: unknown }
  | { readonly kind: 'list'; readonly items: readonly DrawnValue[] }
  | { readonly kind: 'object'; readonly fields: readonly (readonly [string, DrawnValue])[] }
  | DrawnVariable;

/** A variable, with what each use of the document supplies for it. */
export interface DrawnVariable {
  readonly kind: 'variable';
  readonly type: string;
  readonly defaultValue: DrawnValue | undefined;
  readonly supplies: readonly Supply[];
}

/** What one request gives for a variable; nothing when it is left out. */
type Supply = { readonly value: unknown } | undefined;

/** How many sets of variables are drawn with a document. */
export const variableSets = 3;

/** How deep input objects of input objects go, beyond what is required. */
const deepest = 4;

/** How values are drawn. */
export interface ValueOptions {
  /** Values that mean something at a field or an argument, by its name. */
  readonly named: NamedValues;
  /** Whether named values are the only ones where there are some: for operations that others would make change something. */
  readonly onlyNamed: boolean;
  /** Whether variables occur inside literals too, not only as whole arguments. */
  readonly nested: boolean;
  /** Whether every variable is a required one of a leaf type, as most clients declare them. */
  readonly requiredLeaves: boolean;
}

const nullLeaf = leaf(null);

/** Draws values of input types. Arbitraries are made once for each type and name. */
export class ValueArbitraries {
  readonly #options: ValueOptions;
  readonly #made = new Map<string, fc.Arbitrary<DrawnValue>>();

  constructor(options: ValueOptions) {
    this.#options = options;
  }

  /** A value for an argument: a literal, a variable, or variables inside of a literal. */
  argument(type: GraphQLInputType, name: string): fc.Arbitrary<DrawnValue> {
    return this.#make(`argument ${type} ${name}`, () => this.#withVariables(type, name, 0));
  }

  /** A value without variables, as JSON. */
  constant(type: GraphQLInputType, name: string, depth = 0): fc.Arbitrary<DrawnValue> {
    return this.#make(`constant ${type} ${name} ${depth}`, () =>
      this.#value(type, name, depth, (t, n) => this.constant(t, n, depth + 1)),
    );
  }

  #make(key: string, make: () => fc.Arbitrary<DrawnValue>): fc.Arbitrary<DrawnValue> {
    const made = this.#made.get(key) ?? make();
    this.#made.set(key, made);
    return made;
  }

  #withVariables(type: GraphQLInputType, name: string, depth: number): fc.Arbitrary<DrawnValue> {
    const literal = !this.#options.nested
      ? this.constant(type, name)
      : this.#value(type, name, depth, (t, n) => this.#make(`${depth} ${t} ${n}`, () => this.#withVariables(t, n, depth + 1)));
    if (this.#options.requiredLeaves && !isLeafType(getNullableType(type))) return literal;
    return fc.oneof({ weight: 3, arbitrary: literal }, { weight: 2, arbitrary: this.#variable(type, name) });
  }

  #variable(type: GraphQLInputType, name: string): fc.Arbitrary<DrawnValue> {
    const right = this.constant(type, name);
    const nullable = String(getNullableType(type));
    const required = fc.constant({ type: `${nullable}!`, hasDefault: false });
    const anyForm = fc.oneof(
      { weight: 80, arbitrary: fc.constant({ type: String(type), hasDefault: false }) },
      { weight: 40, arbitrary: required },
      { weight: 40, arbitrary: fc.constant({ type: nullable, hasDefault: true }) },
      { weight: 1, arbitrary: fc.constant({ type: nullable, hasDefault: false }) },
      { weight: 1, arbitrary: fc.constantFrom('String', 'Int!', '[ID!]').map((other) => ({ type: other, hasDefault: false })) },
    );
    const form = this.#options.requiredLeaves ? required : anyForm;
    return fc
      .record({ form, defaultValue: right, supplies: this.#supplies(right) })
      .map(({ form: { hasDefault, ...rest }, defaultValue, supplies }) => ({
        kind: 'variable',
        ...rest,
        defaultValue: hasDefault ? defaultValue : undefined,
        supplies,
      }));
  }

  /** A value whose parts are drawn by `part`. */
  #value(
    type: GraphQLInputType,
    name: string,
    depth: number,
    part: (type: GraphQLInputType, name: string) => fc.Arbitrary<DrawnValue>,
  ): fc.Arbitrary<DrawnValue> {
    const right = this.#right(type, name, depth, part);
    if (this.#options.onlyNamed) return right;
    const wrong = fc.constantFrom(
      nullLeaf,
      leaf('text'),
      leaf(1.5),
      leaf(true),
      leaf(5),
      leaf([]),
      leaf({}, '{}'),
      leaf('BARE', 'BARE'),
    );
    return fc.oneof({ weight: 300, arbitrary: right }, { weight: 1, arbitrary: wrong });
  }

  #right(
    type: GraphQLInputType,
    name: string,
    depth: number,
    part: (type: GraphQLInputType, name: string) => fc.Arbitrary<DrawnValue>,
  ): fc.Arbitrary<DrawnValue> {
    if (isNonNullType(type)) return this.#right(type.ofType, name, depth, part);
    if (isListType(type)) {
      const items = fc
        .array(part(type.ofType, name), { maxLength: 3 })
        .map((list): DrawnValue => ({ kind: 'list', items: list }));
      // A value where a list is expected is a list of one.
      return fc.oneof({ weight: 6, arbitrary: items }, { weight: 1, arbitrary: part(type.ofType, name) });
    }
    if (isInputObjectType(type)) {
      const isRequired = (field: GraphQLInputField) => isNonNullType(field.type) && field.defaultValue === undefined;
      const entries = Object.values(type.getFields())
        .filter((field) => depth < deepest || isRequired(field))
        .map((field) => ({ field, entry: part(field.type, field.name).map((value) => [field.name, value] as const) }));
      if (type.isOneOf) {
        const one = fc.oneof(...entries.map(({ entry }) => entry));
        const count = fc.oneof({ weight: 200, arbitrary: fc.constant(1) }, { weight: 1, arbitrary: fc.constantFrom(0, 2) });
        return fc.tuple(count, one, one).map(([length, ...pair]) => ({ kind: 'object', fields: pair.slice(0, length) }));
      }
      const drawn = entries.map(({ field, entry }) => fc.option(entry, { nil: undefined, freq: isRequired(field) ? 200 : 2 }));
      return fc.tuple(...drawn).map((list) => ({ kind: 'object', fields: list.filter((entry) => entry !== undefined) }));
    }
    return this.#leaf(type, name);
  }

  #leaf(type: GraphQLLeafType, name: string): fc.Arbitrary<DrawnValue> {
    const { named, onlyNamed, nested } = this.#options;
    const known = named[name];
    const meant = known && type.name !== 'JSON' ? fc.constantFrom(...known).map((json) => leaf(json)) : undefined;
    if (meant && onlyNamed) return meant;
    const free = isEnumType(type)
      ? fc.constantFrom(...type.getValues()).map(({ name: value }) => leaf(value, value))
      : scalar(type.name, name, known, nested ? (t: string) => this.#looseVariable(t) : undefined);
    return meant ? fc.oneof({ weight: 9, arbitrary: meant }, { weight: 1, arbitrary: free }) : free;
  }

  #supplies(right: fc.Arbitrary<DrawnValue>): fc.Arbitrary<Supply[]> {
    const wrong = this.#options.onlyNamed ? wrongJson.filter((value) => typeof value !== 'string') : wrongJson;
    const supply = fc.oneof<fc.WeightedArbitrary<Supply>[]>(
      { weight: 40, arbitrary: right.map((value) => ({ value: jsonOf(value) })) },
      { weight: 2, arbitrary: fc.constant({ value: null }) },
      { weight: 3, arbitrary: fc.constant(undefined) },
      { weight: 1, arbitrary: fc.constantFrom(...wrong).map((value) => ({ value })) },
    );
    return fc.array(supply, { minLength: variableSets, maxLength: variableSets });
  }

  /** A variable inside of a custom scalar's literal, where validation accepts any type. */
  #looseVariable(type: string): fc.Arbitrary<DrawnValue> {
    const values: Readonly<Record<string, readonly unknown[]>> = {
      String: ['a', 'Acme'],
      Int: [1],
      Boolean: [true],
      JSON: [{ a: 1 }, 'b'],
      '[ID!]': [['x']],
    };
    const right = fc.constantFrom(...(values[type.replace(/!$/, '')] ?? [1])).map((value) => leaf(value));
    return fc
      .record({ hasDefault: fc.boolean(), defaultValue: right, supplies: this.#supplies(right) })
      .map(({ hasDefault, defaultValue, supplies }) => ({
        kind: 'variable',
        type,
        defaultValue: hasDefault && !type.endsWith('!') && type !== 'JSON' ? defaultValue : undefined,
        supplies,
      }));
  }
}

/** A value without variables as JSON. */
function jsonOf(value: DrawnValue): unknown {
  switch (value.kind) {
    case 'leaf':
      return value.json;
    case 'list':
      return value.items.map(jsonOf);
    case 'object':
      return Object.fromEntries(value.fields.map(([name, field]) => [name, jsonOf(field)]));
    case 'variable':
      return value.supplies[0]?.value;
  }
}
