import type { Kind } from '../json.ts';
import type { SchemaModel } from '../model.ts';
import type { TextRange } from '../positions.ts';
import { quote, quoteList, quoteText } from '../words.ts';

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
export function describeValue({ kind, value, text, start, end }: Visit): string {
  if (kind === 'object') return 'an object';
  if (kind === 'array') return 'an array';
  if (value !== undefined) return `the string ${quote(value)}`;
  const written = text.slice(start, end);
  return kind === 'number' ? `the number ${quoteText(written).slice(1, -1)}` : written;
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

/** How serious a diagnostic is. Only errors make a document invalid. */
export type Severity = 'error' | 'warning';

/** The severity that a caller chooses for a rule; `off` disables it. */
export type Level = Severity | 'off';

/** What the schema has at a place for values of a JSON type: of its model there, the branch that they fit, if any. */
export interface Part {
  readonly kind: Kind;
  readonly model: SchemaModel;
  readonly branch: SchemaModel | undefined;
}

/** Checks a value; an object or array when it ends. */
export type Check = (visit: Visit, report: ReportDiagnostic) => void;

/** The check of the values of a part of the schema, if there is one. */
export type CheckFor = (part: Part) => Check | false | undefined;

/** One kind of diagnostic: its documentation, and the check that reports it, unless the validator itself does. */
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
  readonly checkFor?: CheckFor;
  /** The check runs when the whole document has been read. */
  readonly needsDocument?: true;
}

/** The value of a member of an object; of a string, the value itself. */
export interface Member extends TextRange {
  kind: Kind;
  value: string | undefined;
  start: number;
  end: number;
}

/** What the rules note about the whole document, and the files around it. */
export interface Site {
  /** Paths of the site's files, and the same without the extensions of pages; undefined when they are unknown. */
  readonly files: ReadonlySet<string> | undefined;
  readonly pageFiles: ReadonlySet<string> | undefined;
  /** The declared versions. */
  readonly versions: Set<string>;
  readonly pages: Set<string>;
  /** The objects whose known keys were listed. */
  readonly listed: Set<SchemaModel>;
  /** The same pages, sorted; made when the document has been read. */
  sortedPages?: readonly string[];
}

/** A value under check. Reused for the next value: copy what is to be kept. */
export interface Visit extends TextRange {
  kind: Kind;
  start: number;
  end: number;
  /** The value of a string. */
  value: string | undefined;
  /** The number of items of an array. */
  count: number;
  /** The keys of an object. */
  readonly keys: Set<string>;
  /** The members of the document, and of objects with a condition, by key; and the one that is being read. */
  readonly members: Map<string, Member>;
  member: Member | undefined;
  /** The path of a page for comparison, and whether it is listed before. */
  page: string;
  isRepeated: boolean;
  /** Keys and indexes from the root to this value. */
  readonly path: (string | number)[];
  readonly text: string;
  readonly site: Site;
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
}
