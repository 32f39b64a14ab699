import { quoteText } from '../json/source-text.ts';
import type { JsonNode } from '../json/syntax-tree.ts';
import type { SchemaModel } from '../schema/schema-model.ts';

/** How messages name a place: `"pages"`, `Element 3 of "pages"`, or the document. */
export function nameOf(path: readonly (string | number)[]): string {
  const last = path.at(-1);
  if (last === undefined) return 'The document';
  if (typeof last === 'string') return quoted(last);
  const parent = path.findLast((segment) => typeof segment === 'string');
  return `Element ${last + 1}${parent === undefined ? '' : ` of ${quoted(String(parent))}`}`;
}

/** How messages name a value: `the string "intro"`, `an object`. */
export function valueIn(text: string, node: JsonNode): string {
  if (node.kind === 'object') return 'an object';
  if (node.kind === 'array') return 'an array';
  if (node.kind === 'string') return `the string ${quoted(node.value)}`;
  return node.kind === 'number' ? `the number ${quoteText(text, node).slice(1, -1)}` : text.slice(node.start, node.end);
}

/** What a model accepts, in words. */
export function wordsFor(model: SchemaModel): string {
  if (model.kind === 'string') return 'a string';
  if (model.kind === 'boolean') return 'true or false';
  if (model.kind === 'enum') return `one of ${listed(model.values)}`;
  if (model.kind === 'object') return 'an object';
  if (model.kind === 'union') return model.branches.map(wordsFor).join(' or ');
  const { element } = model;
  return `an array of ${element.kind === 'union' ? 'strings' : `${element.kind}s`}`;
}

/** Words between double quotes, separated by commas. */
export function listed(words: Iterable<string>): string {
  return Array.from(words, quoted).join(', ');
}

/** A word of the document as a message shows it: in double quotes, escaped, at most 60 characters. */
export function quoted(word: string): string {
  return JSON.stringify(word.length > 60 ? `${word.slice(0, 59).toWellFormed()}…` : word);
}
