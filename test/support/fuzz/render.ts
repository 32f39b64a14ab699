import type { DrawnDirective, DrawnSelection } from './selections.ts';
import { type DrawnValue, type DrawnVariable, variableSets } from './values.ts';

/** An operation as text, with what each use supplies for its variables. */
export interface RenderedOperation {
  readonly text: string;
  /** The definitions of the fragments that it spreads. */
  readonly fragments: string;
  readonly variables: readonly Readonly<Record<string, unknown>>[];
}

/** The fields of one selection set by their names in the response, fragments included: those of one name must be alike. */
type Scope = Map<string, { readonly key: string; readonly below: Scope }>;

/** Writes an operation. @param prefix makes the names of its variables and fragments its own in a document of several. */
export function renderOperation(
  { head, type, selections }: { head: string; type: string; selections: readonly DrawnSelection[] },
  prefix: string,
): RenderedOperation {
  const writer = new Writer(prefix);
  const body = writer.selections(selections, type, new Map());
  const definitions = writer.variableDefinitions.length > 0 ? `(${writer.variableDefinitions.join(', ')})` : '';
  const text = head === '' ? (definitions === '' ? body : `query${definitions} ${body}`) : `${head}${definitions} ${body}`;
  const variables = definitions === '' ? writer.variables.slice(0, 1) : writer.variables;
  return { text, fragments: writer.fragments.join(' '), variables };
}

class Writer {
  readonly variableDefinitions: string[] = [];
  readonly variables: Record<string, unknown>[] = Array.from({ length: variableSets }, () => ({}));
  readonly fragments: string[] = [];
  readonly #prefix: string;
  /** Fragments that are written whole, by the type that they are on. */
  readonly #whole = new Map<string, string>();
  #names = 0;

  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  /** @param type the name of the type that the selections are on. */
  selections(list: readonly DrawnSelection[], type: string, scope: Scope): string {
    return `{ ${list.map((selection) => this.#selection(selection, type, scope)).join(' ')} }`;
  }

  #selection(selection: DrawnSelection, type: string, scope: Scope): string {
    const directives = this.#directives(selection.directives);
    if (selection.kind === 'field') return this.#field(selection, directives, scope);
    const { form, on, selections } = selection;
    if (form === 'untyped' || form === 'inline') {
      const condition = form === 'untyped' && on === type ? '' : ` on ${on}`;
      return `...${condition}${directives} ${this.selections(selections, on, scope)}`;
    }
    const known = form === 'reused' ? this.#whole.get(on) : undefined;
    if (known) return `...${known}${directives}`;
    const name = `${this.#prefix}F${this.#names++}`;
    this.fragments.push(`fragment ${name} on ${on} ${this.selections(selections, on, scope)}`);
    this.#whole.set(on, name);
    return `...${name}${directives}`;
  }

  #field(field: Extract<DrawnSelection, { kind: 'field' }>, directives: string, scope: Scope): string {
    const given = field.arguments.map(([name, value]) => `${name}: ${this.#value(value)}`);
    const args = given.length > 0 ? `(${given.join(', ')})` : '';
    const key = `${field.name}${args} ${field.type}`;
    let responseName = field.alias ?? field.name;
    // Two fields of one name that are not alike make a document invalid: the second one gets a name of its own.
    while (scope.has(responseName) && scope.get(responseName)?.key !== key) responseName = `r${this.#names++}`;
    const below = scope.get(responseName)?.below ?? new Map();
    scope.set(responseName, { key, below });
    const head = `${responseName === field.name ? '' : `${responseName}: `}${field.name}${args}${directives}`;
    if (field.selections.length === 0) return head;
    const type = field.type.replace(/[^\w]/g, '');
    const text = `${head} ${this.selections(field.selections, type, below)}`;
    return field.again ? `${text} ${head} ${this.selections(field.again, type, below)}` : text;
  }

  #directives(list: readonly DrawnDirective[]): string {
    return list.map(({ name, condition }) => ` @${name}(if: ${this.#value(condition)})`).join('');
  }

  #value(value: DrawnValue): string {
    switch (value.kind) {
      case 'leaf':
        return value.literal;
      case 'list':
        return `[${value.items.map((item) => this.#value(item)).join(', ')}]`;
      case 'object':
        return `{${value.fields.map(([name, field]) => `${name}: ${this.#value(field)}`).join(', ')}}`;
      case 'variable':
        return this.#variable(value);
    }
  }

  #variable({ type, defaultValue, supplies }: DrawnVariable): string {
    const name = `${this.#prefix}v${this.variableDefinitions.length}`;
    this.variableDefinitions.push(`$${name}: ${type}${defaultValue ? ` = ${this.#value(defaultValue)}` : ''}`);
    for (const [i, supply] of supplies.entries()) {
      const variables = this.variables[i];
      if (supply && variables) variables[name] = supply.value;
    }
    return `$${name}`;
  }
}
