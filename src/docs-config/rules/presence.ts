import type { JsonNode } from '../json/syntax-tree.ts';
import { example } from './example.ts';
import { quoted } from './messages.ts';
import { type Draft, holdsObject, type ReportDraft, type Rule, type Visit } from './rule.ts';

/** A field that must be there is not. */
export const required: Rule = {
  severity: 'error',
  title: 'A required field is missing',
  explanation:
    'A file needs "name" and "navigation"; "colors" needs "primary"; and "topbarCtaButton" needs "name" unless its type is "github". Nothing can stand in for them.',
  wrong: '{\n  "name": "Acme"\n}\n',
  right: example(),
  concerns: holdsObject,
  check: (visit, report) => {
    absentFields(visit, 'required', report, (key) => `${quoted(key)} is required.`);
    const condition = visit.branch?.annotations.when;
    if (!condition?.requires || isUncertain(visit.node)) return;
    const { field, requires: key } = condition;
    if (visit.members.has(key) || !holds(visit, condition)) return;
    report(() => absent(visit, key, `${quoted(key)} is required while ${quoted(field)} is ${quoted(condition.is)} or absent.`));
  },
};

/** One of two background colors is given without the other. */
export const backgroundIncomplete: Rule = {
  severity: 'error',
  title: 'A background color is given for one mode only',
  explanation:
    '"colors.background" holds a color for each mode. With one missing, readers in that mode would see a background that nobody chose.',
  wrong: example('"colors": { "primary": "#0d9373", "background": { "dark": "#0f1117" } }'),
  right: example('"colors": { "primary": "#0d9373", "background": { "light": "#ffffff", "dark": "#0f1117" } }'),
  concerns: holdsObject,
  check: (visit, report) => {
    absentFields(visit, 'background-incomplete', report, backgroundMessage);
  },
};

/** A field without which its object says little is not there. */
export const missingField: Rule = {
  severity: 'warning',
  title: 'A field that belongs here is missing',
  explanation:
    'A group is expected to have "group" and "pages"; a link, tab or anchor "name" and "url"; a logo "light" and "dark"; a gradient "from" and "to". The site can be built without, but part of it will look empty.',
  wrong: example('"tabs": [{ "name": "Guides" }]'),
  right: example('"tabs": [{ "name": "Guides", "url": "guides" }]'),
  concerns: holdsObject,
  check: (visit, report) => absentFields(visit, 'missing-field', report, (key) => `${quoted(key)} is missing.`),
};

function backgroundMessage(key: string): string {
  return `The background has no ${quoted(key)} color; it needs both "light" and "dark".`;
}

function absentFields(visit: Visit, kind: string, report: ReportDraft, message: (key: string) => string): void {
  const { branch, members, node } = visit;
  if (branch?.kind !== 'object' || isUncertain(node)) return;
  for (const [key, field] of branch.fields) {
    if (field.absent === kind && !members.has(key)) report(() => absent(visit, key, message(key)));
  }
}

/** Points at the opening of the object that the field would stand in. */
function absent({ node, branch }: Visit, key: string, message: string): Draft {
  const description = branch?.kind === 'object' ? branch.fields.get(key)?.description : undefined;
  const suggestion = `Add ${quoted(key)}${description ? `: ${description}` : '.'}`;
  return { key, range: { start: node.start, end: node.start + 1 }, message, suggestion };
}

/** Where brackets do not match, the field may just have ended up elsewhere. */
function isUncertain(node: JsonNode): boolean {
  return node.kind === 'object' && node.damaged;
}

function holds({ members }: Visit, { field, is, orAbsent }: { field: string; is: string; orAbsent?: true }): boolean {
  const value = members.get(field)?.value;
  return value ? value.kind === 'string' && value.value === is : orAbsent === true;
}
