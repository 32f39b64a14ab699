import fc from 'fast-check';
import {
  doTypesOverlap,
  type GraphQLCompositeType,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isCompositeType,
  isLeafType,
  isObjectType,
  isRequiredArgument,
  isUnionType,
  SchemaMetaFieldDef,
  TypeMetaFieldDef,
} from 'graphql';
import type { DrawnValue, ValueArbitraries } from './values.ts';

/** A part of a selection set. */
export type DrawnSelection =
  | {
      readonly kind: 'field';
      readonly name: string;
      /** The type as the schema has it, by which fields of one name in a response must agree. */
      readonly type: string;
      readonly alias: string | undefined;
      readonly arguments: readonly (readonly [string, DrawnValue])[];
      readonly directives: readonly DrawnDirective[];
      readonly selections: readonly DrawnSelection[];
      /** The selections of a second field like this one, with which it is merged. */
      readonly again: readonly DrawnSelection[] | undefined;
    }
  | {
      readonly kind: 'fragment';
      readonly on: string;
      /**
       * How it is written: in place with or without the type, or by a name; `reused` is one of that type that is there already.
       */
      readonly form: 'inline' | 'untyped' | 'named' | 'reused';
      readonly directives: readonly DrawnDirective[];
      readonly selections: readonly DrawnSelection[];
    };

/** `@include` or `@skip`. */
export interface DrawnDirective {
  readonly name: 'include' | 'skip';
  readonly condition: DrawnValue;
}

/** How selections are drawn. */
export interface SelectionOptions {
  /** Whether there are fragments where the type has no need of them, named ones, and fields that are merged. */
  readonly fragments: boolean;
  readonly directives: boolean;
  /** Fields of objects alone, each once, and aliases that mean nothing to JavaScript: what is compiled rather than not. */
  readonly simple: boolean;
  /** Whether a field, as `Type.field`, may be selected. */
  readonly selects: (coordinate: string) => boolean;
}

/** Names in a response that mean something to JavaScript, and some that do not. */
const aliases = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf', 'then', 'length', 'errors', 'a', 'b', 'c'];

const plainAliases = ['a', 'b', 'c', 'Name'];

/** Draws selection sets of every type of a schema. Arbitraries are made once for each type and depth. */
export class SelectionArbitraries {
  readonly #schema: GraphQLSchema;
  readonly #values: ValueArbitraries;
  readonly #options: SelectionOptions;
  readonly #made = new Map<string, fc.Arbitrary<DrawnSelection[]>>();

  constructor(schema: GraphQLSchema, values: ValueArbitraries, options: SelectionOptions) {
    this.#schema = schema;
    this.#values = values;
    this.#options = options;
  }

  /** The selections of a type, with others below them to some depth. */
  of(type: GraphQLCompositeType, depth: number): fc.Arbitrary<DrawnSelection[]> {
    const key = `${type.name} ${depth}`;
    const made = this.#made.get(key) ?? this.#list(type, depth);
    this.#made.set(key, made);
    return made;
  }

  #list(type: GraphQLCompositeType, depth: number): fc.Arbitrary<DrawnSelection[]> {
    const length = { minLength: 1, maxLength: 3 };
    const item = this.#item(type, depth);
    if (!this.#options.simple) return fc.array(item, length);
    const responseName = (selection: DrawnSelection) => (selection.kind === 'field' ? (selection.alias ?? selection.name) : '');
    return fc.uniqueArray(item, { ...length, selector: responseName });
  }

  /** One root field with all below it. */
  root(type: GraphQLCompositeType, name: string, depth: number): fc.Arbitrary<DrawnSelection> | undefined {
    const field = this.#fields(type).find((one) => one.name === name);
    return field && this.#field(field, depth);
  }

  #fields(type: GraphQLCompositeType): GraphQLField<unknown, unknown>[] {
    const own = isUnionType(type) ? [] : Object.values(type.getFields());
    const meta = type === this.#schema.getQueryType() ? [SchemaMetaFieldDef, TypeMetaFieldDef] : [];
    return [...own, ...meta]
      .filter((field) => this.#options.selects(`${type.name}.${field.name}`))
      .filter((field) => !this.#options.simple || !isAbstractType(getNamedType(field.type)));
  }

  #item(type: GraphQLCompositeType, depth: number): fc.Arbitrary<DrawnSelection> {
    const { fragments } = this.#options;
    const fields = this.#fields(type);
    const leaves = fields.filter((field) => isLeafType(getNamedType(field.type)));
    const composite = fields.filter((field) => !isLeafType(getNamedType(field.type)));
    const options: fc.WeightedArbitrary<DrawnSelection>[] = [{ weight: 1, arbitrary: this.#typename() }];
    if (leaves.length > 0) options.push({ weight: 5, arbitrary: fc.oneof(...leaves.map((field) => this.#field(field, 0))) });
    if (depth > 0 && composite.length > 0) {
      const weighted = composite.map((field) => ({ weight: this.#weightOf(field), arbitrary: this.#field(field, depth) }));
      options.push({ weight: 6, arbitrary: fc.oneof(...weighted) });
    }
    if (depth > 0 && (fragments || isAbstractType(type))) {
      options.push({
        weight: isAbstractType(type) ? 8 : 2,
        arbitrary: fc.oneof(...this.#conditions(type).map((on) => this.#fragment(on, depth))),
      });
    }
    return fc.oneof(...options);
  }

  /**
   * Fields that are or lead to unions and interfaces are few among many: they come more often. Introspection comes less often.
   */
  #weightOf(field: GraphQLField<unknown, unknown>): number {
    const type = getNamedType(field.type);
    if (type.name.startsWith('__')) return 1;
    return isAbstractType(type) ? 8 : leadsToAbstract(type, 3) ? 6 : 2;
  }

  /** The types that a fragment on a type may have. */
  #conditions(type: GraphQLCompositeType): GraphQLCompositeType[] {
    return Object.values(this.#schema.getTypeMap())
      .filter((other) => isCompositeType(other))
      .filter((other) => !other.name.startsWith('__') || other === type)
      .filter((other) => doTypesOverlap(this.#schema, type, other));
  }

  #fragment(on: GraphQLCompositeType, depth: number): fc.Arbitrary<DrawnSelection> {
    return fc.record({
      kind: fc.constant('fragment'),
      on: fc.constant(on.name),
      form: this.#options.fragments ? fc.constantFrom('inline', 'untyped', 'named', 'named', 'reused') : fc.constant('inline'),
      directives: this.#directives(),
      selections: this.of(on, depth - 1),
    });
  }

  #typename(): fc.Arbitrary<DrawnSelection> {
    return this.#fieldOf('__typename', 'String!', fc.constant([]), fc.constant([]), fc.constant(undefined));
  }

  #field(field: GraphQLField<unknown, unknown>, depth: number): fc.Arbitrary<DrawnSelection> {
    const type = getNamedType(field.type);
    // Introspection multiplies with the size of the schema.
    const deepest = type.name.startsWith('__') ? Math.min(depth, 2) : depth;
    const none = fc.constant<DrawnSelection[]>([]);
    const below = isCompositeType(type) ? this.of(type, Math.max(0, deepest - 1)) : none;
    const given = field.args.map((argument) => {
      const value = this.#values.argument(argument.type, argument.name).map((drawn) => [argument.name, drawn] as const);
      return fc.option(value, { nil: undefined, freq: isRequiredArgument(argument) ? 100 : 2 });
    });
    const args = fc.tuple(...given).map((list) => list.filter((entry) => entry !== undefined));
    const once = { weight: 9, arbitrary: fc.constant<DrawnSelection[] | undefined>(undefined) };
    const merges = isCompositeType(type) && this.#options.fragments;
    const again = merges ? fc.oneof(once, { weight: 1, arbitrary: below }) : once.arbitrary;
    return this.#fieldOf(field.name, String(field.type), args, below, again);
  }

  #fieldOf(
    name: string,
    type: string,
    args: fc.Arbitrary<(readonly [string, DrawnValue])[]>,
    selections: fc.Arbitrary<DrawnSelection[]>,
    again: fc.Arbitrary<DrawnSelection[] | undefined>,
  ): fc.Arbitrary<DrawnSelection> {
    const alias = fc.oneof(
      { weight: 4, arbitrary: fc.constant(undefined) },
      { weight: 1, arbitrary: fc.constantFrom(...(this.#options.simple ? plainAliases : aliases)) },
    );
    const fixed = { kind: fc.constant('field' as const), name: fc.constant(name), type: fc.constant(type) };
    return fc.record({ ...fixed, alias, arguments: args, directives: this.#directives(), selections, again });
  }

  #directives(): fc.Arbitrary<DrawnDirective[]> {
    if (!this.#options.directives) return fc.constant([]);
    const boolean = this.#schema.getDirective('include')?.args[0]?.type;
    if (!boolean) return fc.constant([]);
    const named = (name: 'include' | 'skip') =>
      fc.record({ name: fc.constant(name), condition: this.#values.argument(boolean, 'if') });
    const include = named('include');
    const skip = named('skip');
    return fc.oneof(
      { weight: 50, arbitrary: fc.constant<DrawnDirective[]>([]) },
      { weight: 5, arbitrary: fc.oneof(include, skip).map((directive) => [directive]) },
      { weight: 1, arbitrary: fc.tuple(include, skip).map((list) => [...list]) },
    );
  }
}

/** Whether a union or interface can be reached from a type within some steps. */
function leadsToAbstract(type: GraphQLNamedType, steps: number): boolean {
  if (isAbstractType(type)) return true;
  if (!isObjectType(type) || steps === 0) return false;
  return Object.values(type.getFields()).some((field) => leadsToAbstract(getNamedType(field.type), steps - 1));
}
