import type { Edit } from '../json/parser-state.ts';
import { quoteText } from '../json/source-text.ts';
import type { JsonNode, Member, TextRange } from '../json/syntax-tree.ts';
import type { SchemaModel } from '../schema/schema-model.ts';
import type { Site } from './site.ts';

/** Creates an example document: the minimum that is valid, plus the given fields. */
export function example(...fields: string[]): string {
  const least = ['"name": "Acme"', '"navigation": [{ "group": "Guides", "pages": ["guides/start", "guides/install"] }]'];
  return `{\n${[...least, ...fields].map((field) => `  ${field}`).join(',\n')}\n}\n`;
}

/** Creates an example document with the given navigation. */
export function navigation(value: string): string {
  return `{\n  "name": "Acme",\n  "navigation": ${value}\n}\n`;
}

/** Shortens an example that is too long to print, such as one with 1,001 entries. */
export function shortenExample(text: string): string {
  return text.length > 2000 ? `${text.slice(0, 400)}…` : text;
}

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

/** How serious a diagnostic is. Only errors make a document invalid. */
export type Severity = 'error' | 'warning';

/** The severity that a caller chooses for a rule; `off` disables it. */
export type Level = Severity | 'off';

/** One kind of diagnostic: its documentation, and the function that reports it. */
export interface Rule {
  readonly severity: Severity;
  /** One line without a period at the end. */
  readonly title: string;
  /** Why it matters and what to do, in plain words. */
  readonly explanation: string;
  /** A document in which only this rule reports something, and one in which no rule does. */
  readonly wrong: string;
  readonly right: string;
  /** The site's files that the examples are checked against. */
  readonly files?: readonly string[];
  /** Whether the rule applies to values of a model. Evaluated once per model, so the rule does not run on every value. */
  readonly concerns?: (model: SchemaModel) => boolean;
  /** Checks a value that the schema defines. Missing when the parser or the collector reports the diagnostic. */
  readonly check?: (visit: Visit, report: ReportDiagnostic) => void;
  /** Checks an object, including those that the schema does not define. */
  readonly checkObject?: (visit: ObjectVisit, report: ReportDiagnostic) => void;
}

/** An object under check. */
interface ObjectVisit {
  readonly node: JsonNode;
  /** The effective members by key; empty when the value is not an object. */
  readonly members: ReadonlyMap<string, Member>;
  /** The line number of an offset, from 1. */
  readonly line: (offset: number) => number;
}

/** A value under check, with its model. */
export interface Visit extends ObjectVisit {
  readonly model: SchemaModel;
  /** The part of the model that matches the JSON type of the value; undefined when none does. */
  readonly branch: SchemaModel | undefined;
  readonly text: string;
  /** Keys and indexes from the root to this value. The array is reused: copy it to keep it. */
  readonly path: readonly (string | number)[];
  readonly site: Site;
}

/** Whether a model, or a branch of a union, passes a test. */
export function somePart(model: SchemaModel, test: (part: SchemaModel) => boolean): boolean {
  return test(model) || (model.kind === 'union' && model.branches.some((branch) => somePart(branch, test)));
}

/** Whether a model accepts objects. */
export function holdsObject(model: SchemaModel): boolean {
  return somePart(model, ({ kind }) => kind === 'object');
}

/** Reports a diagnostic. The draft is made only when the diagnostic is kept. */
export type ReportDiagnostic = (make: () => DiagnosticDraft) => void;

/** A diagnostic before its code, severity and position are added. */
export interface DiagnosticDraft {
  readonly range: TextRange;
  /** The key below the checked value that the diagnostic is about. */
  readonly key?: string;
  readonly message: string;
  readonly suggestion?: string;
  /** An edit that is certain to be what was meant. */
  readonly fix?: Edit;
}
