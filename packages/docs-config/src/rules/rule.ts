import type { Kind } from '../json.ts';
import { branchFor, type ObjectModel, type SchemaModel } from '../model.ts';
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
export function describeValue({ kind, text, start, end }: Visit): string {
  if (kind === 'object') return 'an object';
  if (kind === 'array') return 'an array';
  const written = text.slice(start, end);
  if (kind === 'string') return `the string ${quote(JSON.parse(written))}`;
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

/** One kind of diagnostic: its documentation, and the functions that report it, unless the validator itself does. */
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
  /** Checks a value of a JSON type that the schema does not have there. */
  readonly checkMismatch?: (visit: Visit, report: ReportDiagnostic) => void;
  /** Checks an object or array where the schema has one. */
  readonly check?: (visit: Visit, report: ReportDiagnostic) => void;
  /** Checks an object where the schema has one. */
  readonly checkObject?: (model: ObjectModel, visit: Visit, report: ReportDiagnostic) => void;
  /** Checks a string where the schema has one. */
  readonly checkString?: (value: string, visit: Visit, report: ReportDiagnostic) => void;
  /** Which parts of the schema `checkString` is about. */
  readonly concerns?: (part: SchemaModel) => boolean;
  /** `checkString` runs when the whole document has been read. */
  readonly needsDocument?: true;
}

/** A member of an object: where its key and its value are, and the value of a string. */
export interface Member extends TextRange {
  kind: Kind;
  value: unknown;
  valueStart: number;
  valueEnd: number;
}

/** What the rules note about the whole document, and the files around it. */
export interface Site {
  /** Paths of the site's files; undefined when they are unknown. */
  readonly files: ReadonlySet<string> | undefined;
  /** The declared versions. */
  readonly versions: Set<string>;
  /** The offset of the first mention of each page. */
  readonly pages: Map<string, number>;
  /** The same pages, sorted; made when the document has been read. */
  sortedPages?: readonly string[];
  /** The fields that were listed as the known ones: once is enough. */
  readonly listed: Set<object>;
}

/** A value under check. Reused for the next value: copy what is to be kept. */
export class Visit implements TextRange {
  kind: Kind = 'null';
  start = 0;
  end = 0;
  /** What the schema has here, if anything, and the part of it that matches the JSON type of the value. */
  model: SchemaModel | undefined;
  branch: SchemaModel | undefined;
  /** The number of items of an array. */
  count = 0;
  /** The members of an object by key, of a duplicate key the last one; and the one that is being read. */
  readonly members = new Map<string, Member>();
  member: Member | undefined;
  readonly text: string;
  /** Keys and indexes from the root to this value. */
  readonly path: readonly (string | number)[];
  readonly site: Site;
  /** The line number of an offset, from 1. */
  readonly line: (offset: number) => number;

  constructor(text: string, path: Visit['path'], site: Site, line: Visit['line']) {
    this.text = text;
    this.path = path;
    this.site = site;
    this.line = line;
  }

  begin(kind: Kind, start: number, model: SchemaModel | undefined): void {
    this.kind = kind;
    this.start = start;
    this.model = model;
    this.branch = model && branchFor(model, kind);
    this.count = 0;
    this.member = undefined;
    if (this.members.size > 0) this.members.clear();
  }
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
