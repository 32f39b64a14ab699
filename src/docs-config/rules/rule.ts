import type { Edit } from '../json/parser-state.ts';
import type { JsonNode, Member, TextRange } from '../json/syntax-tree.ts';
import type { SchemaModel } from '../schema/schema-model.ts';
import type { Site } from './site.ts';

/** How much a finding weighs. */
export type Severity = 'error' | 'warning';

/** One kind of finding: what it is called, what its page says, and the function that finds it. */
export interface Rule {
  readonly severity: Severity;
  /** One line without a full stop. */
  readonly title: string;
  /** Why it matters and what to do, in plain words. */
  readonly explanation: string;
  /** A file in which this rule, and no other, finds something; and one in which nothing is found. */
  readonly wrong: string;
  readonly right: string;
  /** The files of the site that the examples are checked against. */
  readonly files?: readonly string[];
  /** Whether the rule has anything to say about values of a model, so that it is not asked at every value. */
  readonly concerns?: (model: SchemaModel) => boolean;
  /** Looks at one value that the format knows. Absent where the reader of the text or the list of findings reports. */
  readonly check?: (visit: Visit, report: ReportDraft) => void;
  /** Looks at each object, also at those that the format does not know. */
  readonly checkObject?: (visit: ObjectVisit, report: ReportDraft) => void;
}

/** An object on the walk. */
interface ObjectVisit {
  readonly node: JsonNode;
  /** The members that count, by key; empty for anything but an object. */
  readonly members: ReadonlyMap<string, Member>;
  /** The line number of an offset. */
  readonly line: (offset: number) => number;
}

/** A value on the walk, with what the format says about it. */
export interface Visit extends ObjectVisit {
  /** What the format has here. */
  readonly model: SchemaModel;
  /** The part of the model that fits the JSON type of the value; undefined when none does. */
  readonly branch: SchemaModel | undefined;
  readonly text: string;
  /** Keys and indexes from the root to this value; it changes as the walk goes on. */
  readonly path: readonly (string | number)[];
  readonly site: Site;
}

/** Whether a model, or a part of its choice, is such. */
export function somePart(model: SchemaModel, test: (part: SchemaModel) => boolean): boolean {
  return test(model) || (model.kind === 'union' && model.branches.some((branch) => somePart(branch, test)));
}

/** Whether a model can be an object. */
export function holdsObject(model: SchemaModel): boolean {
  return somePart(model, ({ kind }) => kind === 'object');
}

/** Reports a finding. The draft is made only when the list of findings has room for it. */
export type ReportDraft = (make: () => Draft) => void;

/** A finding in the making. */
export interface Draft {
  readonly range: TextRange;
  /** The key or index below the visited value that the finding is about. */
  readonly key?: string;
  readonly message: string;
  readonly suggestion?: string;
  /** An edit that is certainly what was meant. */
  readonly fix?: Edit;
}
