import { type Kind, type Problem, readJson } from './json.ts';
import { branchFor, docsConfigModel, type ObjectModel, type SchemaModel, type StringModel } from './model.ts';
import { draftDuplicate, draftUnknown } from './rules/keys.ts';
import { normalizePage, normalizePath, notePage } from './rules/references.ts';
import { type Code, codes, rules } from './rules/registry.ts';
import type { Check, DiagnosticDraft, Level, Part, ReportDiagnostic, Rule, Severity, Site, Visit } from './rules/rule.ts';

const plainString: StringModel = { kind: 'string', pattern: undefined, description: '', annotations: {} };

/** Reports a diagnostic. */
export type ReportAt = (code: Code, make: () => DiagnosticDraft & { readonly pointer: string }) => void;

/** What the rules need besides the document. */
interface Surroundings {
  readonly files: readonly string[] | undefined;
  readonly levels: Readonly<Record<Code, Level>>;
  /** Whether no other diagnostic of a severity would be listed. With enough errors, only the syntax is read on. */
  readonly isFull: Readonly<Record<Severity, boolean>>;
  readonly report: ReportAt;
}

/** A part of the schema with the checks of its values. */
interface CheckedPart extends Part {
  readonly checks: readonly PartCheck[];
}

interface PartCheck {
  readonly severity: Severity;
  readonly check: Check;
  readonly report: ReportDiagnostic;
  readonly needsDocument: boolean | undefined;
}

/**
 * Runs every rule on every value of a document while it is read: nothing is kept but what rules ask for, so that a long document
 * takes little time and memory. An object or array is checked when it ends.
 *
 * @returns the first problem of a text that is not JSON, or the root.
 */
export function checkDocument(text: string, { files, levels, isFull, report: reportAt }: Surroundings): Problem | Visit {
  let path: (string | number)[] = [];
  const site: Site = {
    files: files && new Set(files.map(normalizePath)),
    pageFiles: files && new Set(files.map(normalizePage)),
    versions: new Set(),
    pages: new Set(),
    listed: new Set(),
  };
  const createVisit = (): OpenVisit => ({
    ...{ kind: 'null', start: 0, end: 0, value: undefined, part: undefined, count: 0, member: undefined, page: '' },
    ...{ isRepeated: false, keys: new Set(), members: new Map(), path, text, site },
  });
  /** The values that are open, the root first; reused for later ones of the same depth. */
  const open: OpenVisit[] = [];
  const leaf = createVisit();
  const postponed: { check: PartCheck; visit: Pick<Visit, 'value' | 'start' | 'end' | 'path'> }[] = [];
  const parts = new Map<SchemaModel, Partial<Record<Kind, CheckedPart>>>();
  let depth = 0;
  /** The JSON pointers of open values, the root first, as far as there were diagnostics below them. */
  const pointers = [''];

  const createPointer = (): string => {
    for (let length = pointers.length; length <= path.length; length++)
      pointers.push(pointerBelow(pointers[length - 1] as string, path[length - 1] as string | number));
    return pointers[path.length] as string;
  };
  const report = (code: Code, make: () => DiagnosticDraft): void =>
    reportAt(code, () => {
      const { key, ...draft } = make();
      const pointer = createPointer();
      return { ...draft, pointer: (key === undefined ? pointer : pointerBelow(pointer, key)).replace(/~$/, '') };
    });

  const wants = (code: Code): boolean => {
    const severity = levels[code];
    return severity !== 'off' && !isFull[severity];
  };

  const createPart = (part: Part): CheckedPart => {
    const checks = codes.flatMap((code): PartCheck[] => {
      const { checkFor, needsDocument }: Rule = rules[code];
      const severity = levels[code];
      const check = severity !== 'off' && checkFor?.(part);
      return check ? [{ severity, check, needsDocument, report: (make) => report(code, make) }] : [];
    });
    return { ...part, checks };
  };
  const partFor = (model: SchemaModel, kind: Kind): CheckedPart => {
    let known = parts.get(model);
    if (!known) {
      known = {};
      parts.set(model, known);
    }
    known[kind] ??= createPart({ kind, model, branch: branchFor(model, kind) });
    return known[kind];
  };

  const reportKey = (code: Code, object: OpenVisit, key: string, start: number, end: number): void =>
    report(code, () => {
      path.length = depth - 1;
      const range = { start, end };
      return code === 'duplicate-key'
        ? draftDuplicate(key, range)
        : draftUnknown(object.part?.branch as ObjectModel, key, range, object);
    });

  /** Notes where a value is, and what the schema has there. */
  const place = (visit: OpenVisit, kind: Kind, start: number): void => {
    const parent = depth === 0 ? undefined : open[depth - 1];
    if (parent?.kind === 'array') path[depth - 1] = parent.count++;
    if (parent?.member) parent.member.kind = kind;
    if (pointers.length > depth) pointers.length = Math.max(depth, 1);
    const model = parent ? modelBelow(parent, path[depth - 1]) : docsConfigModel;
    visit.kind = kind;
    visit.start = start;
    visit.part = model && partFor(model, kind);
  };
  const check = (visit: OpenVisit): void => {
    if (!visit.part) return;
    for (const check of visit.part.checks) {
      if (isFull[check.severity]) continue;
      if (check.needsDocument) {
        const { value, start, end } = visit;
        postponed.push({ check, visit: { value, start, end, path: [...path] } });
      } else check.check(visit, check.report);
    }
  };

  const problem = readJson(text, {
    begin(kind, start) {
      if (isFull.error) return;
      open[depth] ??= createVisit();
      const visit = open[depth] as OpenVisit;
      place(visit, kind, start);
      visit.count = 0;
      visit.member = undefined;
      if (visit.keys.size > 0) visit.keys.clear();
      if (visit.members.size > 0) visit.members.clear();
      depth++;
    },
    end(end) {
      if (isFull.error) return;
      depth--;
      if (path.length > depth) path.pop();
      const visit = open[depth] as OpenVisit;
      visit.end = end;
      check(visit);
    },
    key(key, start, end) {
      if (isFull.error) return;
      const object = open[depth - 1] as OpenVisit;
      const branch = object.part?.branch;
      const fields = branch?.kind === 'object' ? branch.fields : undefined;
      const platforms = branch?.annotations.platforms;
      const isKnown = fields?.has(key) || (key === '$schema' && !platforms);
      const unknown = platforms ? 'social-platform' : 'unknown-property';
      if (fields && !isKnown && wants(unknown)) reportKey(unknown, object, key, start, end);
      if (isKnown || wants('duplicate-key')) {
        const { size } = object.keys;
        object.keys.add(key);
        if (object.keys.size === size) reportKey('duplicate-key', object, key, start, end);
      }
      path[depth - 1] = key;
      const isNoted = isKnown && (depth === 1 || branch?.annotations.when);
      object.member = isNoted ? { start: end, end, kind: 'null', value: undefined } : undefined;
      if (object.member) object.members.set(key, object.member);
    },
    scalar(kind, value, start, end) {
      if (isFull.error) return;
      place(leaf, kind, start);
      leaf.end = end;
      leaf.value = value;
      const member = depth === 0 ? undefined : open[depth - 1]?.member;
      if (member) {
        member.value = value;
        member.start = start;
        member.end = end;
      }
      const annotations = leaf.part?.branch?.annotations;
      if (annotations?.declaresVersion) site.versions.add(value as string);
      if (annotations?.refersTo === 'page' && (wants('duplicate-page') || wants('unmatched-url') || wants('missing-file')))
        notePage(leaf, value as string);
      check(leaf);
    },
  });
  if (problem) return problem;
  for (const { check, visit } of postponed) {
    if (isFull[check.severity]) continue;
    path = visit.path;
    pointers.length = 1;
    check.check(Object.assign(leaf, visit), check.report);
  }
  return open[0] ?? leaf;
}

/** The maximum length of a pointer. Without it, long keys could make the list a thousand times as long as the document. */
const maxPointerLength = 4096;

/** The pointer to a value below another; where it would be too long, the pointer of the other, with a final ~ as a mark. */
function pointerBelow(pointer: string, key: string | number): string {
  if (pointer.endsWith('~')) return pointer;
  const below = `${pointer}/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`;
  return below.length > maxPointerLength ? `${pointer}~` : below;
}

/** A value under check, with what its children need. Reused for the next value. */
interface OpenVisit extends Visit {
  part: CheckedPart | undefined;
}

function modelBelow({ part }: OpenVisit, key: string | number | undefined): SchemaModel | undefined {
  const branch = part?.branch;
  if (branch?.kind === 'array') return branch.element;
  if (branch?.kind !== 'object') return undefined;
  // An unknown platform is one diagnostic, and its value must be a string all the same.
  return branch.fields.get(key as string) ?? (branch.annotations.platforms ? plainString : undefined);
}
