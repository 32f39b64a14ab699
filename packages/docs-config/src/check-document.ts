import { type Kind, type Problem, readJson } from './json.ts';
import { docsConfigModel, type SchemaModel, type StringModel } from './model.ts';
import type { TextRange } from './positions.ts';
import { draftDuplicate } from './rules/keys.ts';
import { normalizePath } from './rules/references.ts';
import { type Code, codes, rules } from './rules/registry.ts';
import { type DiagnosticDraft, type ReportDiagnostic, type Rule, type Site, Visit } from './rules/rule.ts';

const plainString: StringModel = { kind: 'string', pattern: undefined, description: '', annotations: {} };

/** Reports a diagnostic for the value at a path. */
export type ReportAt = (code: Code, path: readonly (string | number)[], make: () => DiagnosticDraft) => void;

interface Check {
  readonly rule: Rule;
  readonly report: ReportDiagnostic;
}

/** What the rules need besides the document. */
interface Surroundings {
  readonly files: readonly string[] | undefined;
  /** The line number of an offset, from 1. */
  readonly line: (offset: number) => number;
  readonly report: ReportAt;
}

/**
 * Runs every rule on every value of a document while it is read: nothing is kept but what rules ask for, so that a long document
 * takes little time and memory. An object or array is checked when it ends.
 *
 * @returns the first problem of a text that is not JSON, or the root.
 */
export function checkDocument(text: string, { files, line, report: reportAt }: Surroundings): Problem | Visit {
  const path: (string | number)[] = [];
  const site: Site = {
    files: files && new Set(files.map(normalizePath)),
    versions: new Set(),
    pages: new Map(),
    listed: new Set(),
  };
  /** The values that are open, the root first; reused for later ones of the same depth. */
  const open: Visit[] = [];
  const leaf = new Visit(text, path, site, line);
  const postponed: (Check & TextRange & { value: string; path: typeof path })[] = [];
  let depth = 0;

  const checks: Check[] = codes.map((code) => ({ rule: rules[code], report: (make) => reportAt(code, path, make) }));
  const mismatchChecks = checks.filter(({ rule }) => rule.checkMismatch);
  const containerChecks = checks.filter(({ rule }) => rule.check);
  const objectChecks = checks.filter(({ rule }) => rule.checkObject);
  const stringChecks = checks.filter(({ rule }) => rule.checkString);
  /** The rules for strings of a part of the schema. */
  const concerned = new Map<SchemaModel, readonly Check[]>();
  const findStringChecks = (part: SchemaModel): readonly Check[] => {
    const known = concerned.get(part) ?? stringChecks.filter(({ rule }) => rule.concerns?.(part) !== false);
    concerned.set(part, known);
    return known;
  };

  /** Notes where a value is, and what the schema has there. */
  const place = (value: Visit, kind: Kind, start: number): void => {
    const parent = depth === 0 ? undefined : open[depth - 1];
    if (parent?.kind === 'array') path[depth - 1] = parent.count++;
    if (parent?.member) parent.member.kind = kind;
    value.begin(kind, start, parent ? modelBelow(parent, path[depth - 1]) : docsConfigModel);
  };
  const checkMismatch = (value: Visit): void => {
    for (const { rule, report } of mismatchChecks) rule.checkMismatch?.(value, report);
  };

  const problem = readJson(text, {
    begin(kind, start) {
      open[depth] ??= new Visit(text, path, site, line);
      place(open[depth] as Visit, kind, start);
      depth++;
    },
    end(end) {
      depth--;
      path.length = depth;
      const value = open[depth] as Visit;
      value.end = end;
      const { branch } = value;
      if (!branch) return value.model && checkMismatch(value);
      for (const { rule, report } of containerChecks) rule.check?.(value, report);
      if (branch.kind === 'object') for (const { rule, report } of objectChecks) rule.checkObject?.(branch, value, report);
    },
    key(key, start, end) {
      const object = open[depth - 1] as Visit;
      path.length = depth - 1;
      const first = object.members.get(key);
      if (first) reportAt('duplicate-key', path, () => draftDuplicate(key, { start, end }, line(first.start)));
      path[depth - 1] = key;
      object.member = { start, end, kind: 'null', value: undefined, valueStart: end, valueEnd: end };
      object.members.set(key, object.member);
    },
    scalar(kind, value, start, end) {
      place(leaf, kind, start);
      leaf.end = end;
      const member = depth === 0 ? undefined : open[depth - 1]?.member;
      if (member) {
        member.value = value;
        member.valueStart = start;
        member.valueEnd = end;
      }
      if (!leaf.branch) return leaf.model && checkMismatch(leaf);
      if (typeof value !== 'string') return;
      if (leaf.branch.annotations.declaresVersion) site.versions.add(value);
      for (const { rule, report } of findStringChecks(leaf.branch)) {
        if (rule.needsDocument) postponed.push({ rule, report, value, start, end, path: [...path] });
        else rule.checkString?.(value, leaf, report);
      }
    },
  });
  if (problem) return problem;
  const root = open[0] ?? leaf;
  for (const { rule, report, value, start, end, path: there } of postponed) {
    path.splice(0, path.length, ...there);
    rule.checkString?.(value, Object.assign(leaf, { start, end }), report);
  }
  return root;
}

function modelBelow({ branch }: Visit, key: string | number | undefined): SchemaModel | undefined {
  if (branch?.kind === 'array') return branch.element;
  if (branch?.kind !== 'object') return undefined;
  // An unknown platform is one diagnostic, and its value must be a string all the same.
  return branch.fields.get(key as string) ?? (branch.annotations.platforms ? plainString : undefined);
}
