import fc from 'fast-check';
import { expect, test } from 'vitest';
import { docsConfig } from '../src/definition.ts';
import type { SchemaModel } from '../src/model.ts';
import { type Diagnostic, validate, withDefaults } from '../src/validate.ts';
import { documents, pointerOf, type Spot, spots, withValue } from './documents.ts';

const print = (value: unknown) => JSON.stringify(value, null, 2);
const layouts = fc.constantFrom(
  (value: unknown) => JSON.stringify(value),
  (value: unknown) => JSON.stringify(value, null, 2),
  (value: unknown) => JSON.stringify(value, null, '\t').replaceAll('\n', '\r\n'),
);

test('a document generated from the schema is valid, and gets its defaults', () => {
  fc.assert(
    fc.property(documents({ nested: true }), layouts, (document, layout) => {
      const report = validate(layout(document), { allowNestedGroups: true });
      expect(report.diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
      expect(withDefaults(report)).toEqual(docsConfig.parse(document));
    }),
    { numRuns: 100 },
  );
});

/** A change that breaks one rule, and the expected diagnostic. */
interface Mutation {
  readonly document: unknown;
  readonly code: string;
  readonly pointer: string;
  /** The text in the range of the diagnostic. */
  readonly shown: string;
}

const otherTypes: readonly unknown[] = ['text', 7, true, null, [], {}];

function mutationsOf(document: unknown): Mutation[] {
  return spots(document).flatMap((spot) => [
    ...typeMutations(document, spot),
    ...valueMutations(document, spot),
    ...absenceMutations(document, spot),
    ...keyMutations(document, spot),
  ]);
}

function typeMutations(document: unknown, { path, model }: Spot): Mutation[] {
  return otherTypes
    .filter((value) => !accepts(model, value))
    .map((value) => ({
      document: withValue(document, path, value),
      code: path.length === 0 ? 'root-type' : 'type',
      pointer: pointerOf(path),
      shown: print(value),
    }));
}

function valueMutations(document: unknown, { path, model, value }: Spot): Mutation[] {
  const mutate = (wrong: string, code: string): Mutation[] => [
    { document: withValue(document, path, wrong), code, pointer: pointerOf(path), shown: print(wrong) },
  ];
  if (model.kind === 'enum') return mutate(`${String(value)}x`, 'enum');
  const color = model.kind === 'union' ? model.branches[0] : model;
  return color?.kind === 'string' && color.pattern && typeof value === 'string' ? mutate(`${value}0`, 'hex-color') : [];
}

function absenceMutations(document: unknown, { path, absent }: Spot): Mutation[] {
  if (!absent) return [];
  return [{ document: withValue(document, path, undefined), code: absent, pointer: pointerOf(path), shown: '{' }];
}

function keyMutations(document: unknown, { path, model, value }: Spot): Mutation[] {
  const object = model.kind === 'union' ? model.branches.find(({ kind }) => kind === 'object') : model;
  if (object?.kind !== 'object' || typeof value !== 'object') return [];
  const key = `${[...object.fields.keys()][0]}z~/`;
  const code = object.annotations.platforms ? 'social-platform' : 'unknown-property';
  const changed = { ...value, [key]: 'text' };
  return [{ document: withValue(document, path, changed), code, pointer: pointerOf([...path, key]), shown: print(key) }];
}

function accepts(model: SchemaModel, value: unknown): boolean {
  if (model.kind === 'union') return model.branches.some((branch) => accepts(branch, value));
  if (Array.isArray(value)) return model.kind === 'array';
  if (typeof value === 'string') return model.kind === 'string' || model.kind === 'enum';
  if (typeof value === 'boolean') return model.kind === 'boolean';
  return typeof value === 'object' && value !== null && model.kind === 'object';
}

const options = { allowNestedGroups: true, severities: { 'newer-format': 'off' } } as const;

test('any single mutation yields its code at its pointer, and the range covers the offending text', () => {
  const mutations = documents({ nested: true }).chain((document) => fc.tuple(fc.constant(document), fc.nat()));
  fc.assert(
    fc.property(mutations, layouts, ([document, choice], layout) => {
      const all = mutationsOf(document);
      const mutation = all[choice % all.length] as Mutation;
      const source = layout(mutation.document);
      const before = new Set(validate(layout(document), options).diagnostics.map(identity));
      const { diagnostics } = validate(source, options);
      const found = diagnostics.find(({ code, pointer }) => code === mutation.code && pointer === mutation.pointer);
      expect(found, `${mutation.code} ${mutation.pointer} in ${source}`).toBeDefined();
      expect(cut(source, found as Diagnostic)).toBe(mutation.shown);
      // No other error follows from it.
      const others = diagnostics.filter(
        (diagnostic) => diagnostic !== found && diagnostic.severity === 'error' && !before.has(identity(diagnostic)),
      );
      expect(others).toEqual([]);
    }),
    { numRuns: 150 },
  );
});

const damage = fc.constantFrom<(text: string, at: number) => string>(
  (text, at) => text.slice(0, at) + text.slice(at + 1),
  (text, at) => `${text.slice(0, at)},${text.slice(at)}`,
  (text, at) => `${text.slice(0, at)}'${text.slice(at)}`,
  (text, at) => `${text.slice(0, at)}}${text.slice(at)}`,
  (text, at) => `${text.slice(0, at)} // note\n${text.slice(at)}`,
  (text) => text.replaceAll('"', "'"),
  (text) => text.replace(/,(?=\s*")/, ''),
  (text) => `\ufeff${text}`,
);

test('a text that JSON.parse rejects has exactly one diagnostic, json-syntax, and no other text has it', () => {
  const texts = fc.oneof(
    fc.json(),
    fc.string({
      unit: fc.constantFrom(
        ...'{}[]:,"\'\\ \n#/*<=>ab1-.eu',
        '\ufeff',
        '“',
        '\u0000',
        '<<<<<<< a\n',
        '=======\n',
        '>>>>>>> b\n',
        '"a":',
        'True',
      ),
    }),
    fc.string({ unit: fc.constantFrom('{', '}', '[', ']', ',', ':', '"a"', '1') }),
    fc.tuple(fc.json(), fc.nat(), damage).map(([text, at, change]) => change(text, at % (text.length + 1))),
  );
  fc.assert(
    fc.property(texts, (text) => {
      const { diagnostics } = validate(text);
      const codes = diagnostics.map(({ code }) => code);
      if (isJson(text)) expect(codes, JSON.stringify(text)).not.toContain('json-syntax');
      else expect(codes, JSON.stringify(text)).toEqual(['json-syntax']);
      for (const { range } of diagnostics)
        expect(range.start.offset <= range.end.offset && range.end.offset <= text.length).toBe(true);
    }),
    { numRuns: 1_200 },
  );
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function identity({ code, pointer }: Diagnostic): string {
  return `${code} ${pointer}`;
}

function cut(source: string, { range }: Diagnostic): string {
  const text = source.slice(range.start.offset, range.end.offset);
  // A container is shown in the layout of the document; its meaning is what counts.
  return text.startsWith('{') && text !== '{' ? print(JSON.parse(text)) : text;
}
