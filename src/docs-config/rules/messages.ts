import { quoteText } from '../json/source-text.ts';
import type { JsonNode } from '../json/syntax-tree.ts';
import type { SchemaModel } from '../schema/schema-model.ts';

/** Describes a path: `"pages"`, `Element 3 of "pages"`, or `The document`. */
export function describePlace(path: readonly (string | number)[]): string {
  const last = path.at(-1);
  if (last === undefined) return 'The document';
  if (typeof last === 'string') return quote(last);
  const parent = path.findLast((segment) => typeof segment === 'string');
  return `Element ${last + 1}${parent === undefined ? '' : ` of ${quote(String(parent))}`}`;
}

/** Describes a value: `the string "intro"`, `an object`. */
export function describeValue(text: string, node: JsonNode): string {
  if (node.kind === 'object') return 'an object';
  if (node.kind === 'array') return 'an array';
  if (node.kind === 'string') return `the string ${quote(node.value)}`;
  return node.kind === 'number' ? `the number ${quoteText(text, node).slice(1, -1)}` : text.slice(node.start, node.end);
}

/** Describes what a model accepts: `an array of strings`. */
export function describeModel(model: SchemaModel): string {
  if (model.kind === 'string') return 'a string';
  if (model.kind === 'boolean') return 'true or false';
  if (model.kind === 'enum') return `one of ${quoteList(model.values)}`;
  if (model.kind === 'object') return 'an object';
  if (model.kind === 'union') return model.branches.map(describeModel).join(' or ');
  const { element } = model;
  return `an array of ${element.kind === 'union' ? 'strings' : `${element.kind}s`}`;
}

/** Quotes words and joins them with commas. */
export function quoteList(words: Iterable<string>): string {
  return Array.from(words, quote).join(', ');
}

/** Quotes a word: in double quotes, escaped, at most 60 characters. */
export function quote(word: string): string {
  return JSON.stringify(word.length > 60 ? `${word.slice(0, 59).toWellFormed()}…` : word);
}
