import type { JsonNode } from '../json/syntax-tree.ts';
import { type DiagnosticDraft, example, holdsObject, quote, type ReportDiagnostic, type Rule, type Visit } from './rule.ts';

/** A required field is missing. */
export const required: Rule = {
  severity: 'error',
  title: 'A required field is missing',
  explanation:
    'A file needs "name" and "navigation"; "colors" needs "primary"; and "topbarCtaButton" needs "name" unless its type is "github". They have no defaults.',
  wrong: '{\n  "name": "Acme"\n}\n',
  right: example(),
  concerns: holdsObject,
  check: (visit, report) => {
    reportMissingFields(visit, 'required', report, (key) => `${quote(key)} is required.`);
    const condition = visit.branch?.annotations.when;
    if (!condition?.requires || isUncertain(visit.node)) return;
    const { field, requires: key } = condition;
    if (visit.members.has(key) || !conditionHolds(visit, condition)) return;
    report(() =>
      draftMissingField(visit, key, `${quote(key)} is required while ${quote(field)} is ${quote(condition.is)} or absent.`),
    );
  },
};

/** One background color is set without the other. */
export const backgroundIncomplete: Rule = {
  severity: 'error',
  title: 'A background color is given for one mode only',
  explanation:
    '"colors.background" holds a color for each mode. With one missing, readers in that mode would see an arbitrary background.',
  wrong: example('"colors": { "primary": "#0d9373", "background": { "dark": "#0f1117" } }'),
  right: example('"colors": { "primary": "#0d9373", "background": { "light": "#ffffff", "dark": "#0f1117" } }'),
  concerns: holdsObject,
  check: (visit, report) => {
    reportMissingFields(visit, 'background-incomplete', report, backgroundMessage);
  },
};

/** A recommended field is missing. */
export const missingField: Rule = {
  severity: 'warning',
  title: 'A recommended field is missing',
  explanation:
    'A group is expected to have "group" and "pages"; a link, tab or anchor "name" and "url"; a logo "light" and "dark"; a gradient "from" and "to". The site can be built without them, but part of it will look empty.',
  wrong: example('"tabs": [{ "name": "Guides" }]'),
  right: example('"tabs": [{ "name": "Guides", "url": "guides" }]'),
  concerns: holdsObject,
  check: (visit, report) => reportMissingFields(visit, 'missing-field', report, (key) => `${quote(key)} is missing.`),
};

function backgroundMessage(key: string): string {
  return `The background has no ${quote(key)} color; it needs both "light" and "dark".`;
}

function reportMissingFields(visit: Visit, kind: string, report: ReportDiagnostic, message: (key: string) => string): void {
  const { branch, members, node } = visit;
  if (branch?.kind !== 'object' || isUncertain(node)) return;
  for (const [key, field] of branch.fields) {
    if (field.absent === kind && !members.has(key)) report(() => draftMissingField(visit, key, message(key)));
  }
}

/** Drafts a diagnostic at the opening bracket of the object that lacks the field. */
function draftMissingField({ node, branch }: Visit, key: string, message: string): DiagnosticDraft {
  const description = branch?.kind === 'object' ? branch.fields.get(key)?.description : undefined;
  const suggestion = `Add ${quote(key)}${description ? `: ${description}` : '.'}`;
  return { key, range: { start: node.start, end: node.start + 1 }, message, suggestion };
}

/** Whether the field may have ended up elsewhere, because brackets do not match. */
function isUncertain(node: JsonNode): boolean {
  return node.kind === 'object' && node.damaged;
}

function conditionHolds({ members }: Visit, { field, is, orAbsent }: { field: string; is: string; orAbsent?: true }): boolean {
  const value = members.get(field)?.value;
  return value ? value.kind === 'string' && value.value === is : orAbsent === true;
}
