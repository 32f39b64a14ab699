import type { Findings } from '../diagnostics.ts';
import type { Positions } from '../json/positions.ts';
import { effectiveMembers, type JsonNode, type Member } from '../json/syntax-tree.ts';
import { docsConfigShape, type Shape, type StringShape } from '../schema/schema-model.ts';
import { type Code, codes, rules } from './registry.ts';
import type { ReportDraft, Rule, Visit } from './rule.ts';
import type { Site } from './site.ts';

const noMembers: ReadonlyMap<string, Member> = new Map();
const plainString: StringShape = { kind: 'string', pattern: undefined, description: '', notes: {} };

const objectChecks = codes.flatMap((code) => {
  const { checkObject }: Rule = rules[code];
  return checkObject ? [{ code, checkObject }] : [];
});

type Check = { readonly code: Code; readonly check: NonNullable<Rule['check']> };
const checks = new Map<Shape, readonly Check[]>();

/** The rules that concern values of a shape; found once for each shape. */
function checksFor(shape: Shape): readonly Check[] {
  const known = checks.get(shape);
  if (known) return known;
  const found = codes.flatMap((code) => {
    const { check, concerns }: Rule = rules[code];
    return check && concerns?.(shape) !== false ? [{ code, check }] : [];
  });
  checks.set(shape, found);
  return found;
}

/** Takes every value of a document, with what the format says about it, to every rule. The reader bounds the depth. */
export function walk(root: JsonNode, text: string, site: Site, positions: Positions, findings: Findings): void {
  const path: (string | number)[] = [];
  const line = (offset: number) => positions.at(offset).line;
  const reporters = new Map<Code, ReportDraft>();
  for (const code of codes) {
    if (findings.level(code) !== 'off') reporters.set(code, (make) => findings.add(code, path, make));
  }
  visit(root, docsConfigShape);

  function visit(node: JsonNode, shape: Shape | undefined): void {
    if (node.kind === 'error') return;
    const members = node.kind === 'object' ? effectiveMembers(node) : noMembers;
    const branch = shape && branchFor(shape, node.kind);
    if (shape) {
      const value: Visit = { node, shape, branch, members, text, path, site, line };
      for (const { code, check } of checksFor(shape)) {
        const report = reporters.get(code);
        if (report) check(value, report);
      }
    }
    if (node.kind === 'object') {
      for (const { code, checkObject } of objectChecks) {
        const report = reporters.get(code);
        if (report) checkObject({ node, members, line }, report);
      }
      for (const [key, member] of members) visitBelow(key, member.value, fieldShape(branch, key));
    } else if (node.kind === 'array') {
      const element = branch?.kind === 'array' ? branch.element : undefined;
      let index = 0;
      for (const item of node.items) visitBelow(index++, item, element);
    }
  }

  function visitBelow(key: string | number, node: JsonNode, shape: Shape | undefined): void {
    path.push(key);
    visit(node, shape);
    path.pop();
  }
}

/** The part of a shape that a value of this JSON type is judged by, so that a union yields one finding and not one for each. */
export function branchFor(shape: Shape, kind: JsonNode['kind']): Shape | undefined {
  if (shape.kind === 'union') {
    for (const branch of shape.branches) if (branchFor(branch, kind)) return branch;
    return undefined;
  }
  return shape.kind === kind || (shape.kind === 'enum' && kind === 'string') ? shape : undefined;
}

function fieldShape(branch: Shape | undefined, key: string): Shape | undefined {
  if (branch?.kind !== 'object') return undefined;
  // An unlisted platform is one finding; that its value be a text is another matter.
  return branch.fields.get(key)?.shape ?? (branch.notes.platforms ? plainString : undefined);
}
