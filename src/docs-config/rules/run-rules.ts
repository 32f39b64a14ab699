import { effectiveMembers, type JsonNode } from '../json/syntax-tree.ts';
import { branchFor, docsConfigModel, type SchemaModel, type StringModel } from '../schema/schema-model.ts';
import { type Code, codes, rules } from './registry.ts';
import type { DiagnosticDraft, Level, ReportDiagnostic, Rule, Visit } from './rule.ts';
import type { Site } from './site.ts';

const plainString: StringModel = { kind: 'string', pattern: undefined, description: '', annotations: {} };

const objectChecks = codes.flatMap((code) => {
  const { checkObject }: Rule = rules[code];
  return checkObject ? [{ code, checkObject }] : [];
});

type Check = { readonly code: Code; readonly check: NonNullable<Rule['check']> };
const checks = new Map<SchemaModel, readonly Check[]>();

/** The rules that apply to values of a model, cached per model. */
function findChecks(model: SchemaModel): readonly Check[] {
  const known = checks.get(model);
  if (known) return known;
  const found = codes.flatMap((code) => {
    const { check, concerns }: Rule = rules[code];
    return check && concerns?.(model) !== false ? [{ code, check }] : [];
  });
  checks.set(model, found);
  return found;
}

/** Reports a diagnostic for the value at a path. */
export type ReportAt = (code: Code, path: readonly (string | number)[], make: () => DiagnosticDraft) => void;

/** What the rules need besides the document. */
interface RulesContext {
  readonly text: string;
  readonly site: Site;
  /** The line number of an offset, from 1. */
  readonly line: (offset: number) => number;
  /** Rules whose level is `off` are not run. */
  readonly levels: Readonly<Record<Code, Level>>;
  readonly report: ReportAt;
}

/** Runs every rule on every value of a document. The parser bounds the depth of the recursion. */
export function runRules(root: JsonNode, { text, site, line, levels, report: reportAt }: RulesContext): void {
  const path: (string | number)[] = [];
  const reporters = new Map<Code, ReportDiagnostic>();
  for (const code of codes) {
    if (levels[code] !== 'off') reporters.set(code, (make) => reportAt(code, path, make));
  }
  visit(root, docsConfigModel);

  function visit(node: JsonNode, model: SchemaModel | undefined): void {
    if (node.kind === 'error') return;
    const members = effectiveMembers(node);
    const branch = model && branchFor(model, node.kind);
    if (model) {
      const value: Visit = { node, model, branch, members, text, path, site, line };
      for (const { code, check } of findChecks(model)) {
        const report = reporters.get(code);
        if (report) check(value, report);
      }
    }
    if (node.kind === 'object') {
      for (const { code, checkObject } of objectChecks) {
        const report = reporters.get(code);
        if (report) checkObject({ node, members, line }, report);
      }
      for (const [key, member] of members) visitBelow(key, member.value, findFieldModel(branch, key));
    } else if (node.kind === 'array') {
      const element = branch?.kind === 'array' ? branch.element : undefined;
      let index = 0;
      for (const item of node.items) visitBelow(index++, item, element);
    }
  }

  function visitBelow(key: string | number, node: JsonNode, model: SchemaModel | undefined): void {
    path.push(key);
    visit(node, model);
    path.pop();
  }
}

function findFieldModel(branch: SchemaModel | undefined, key: string): SchemaModel | undefined {
  if (branch?.kind !== 'object') return undefined;
  // An unknown platform is one diagnostic, and its value must be a string all the same.
  return branch.fields.get(key)?.model ?? (branch.annotations.platforms ? plainString : undefined);
}
