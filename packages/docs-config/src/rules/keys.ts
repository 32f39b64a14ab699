import type { Absent, ObjectModel } from '../model.ts';
import type { TextRange } from '../positions.ts';
import { didYouMean, quote, quoteList } from '../words.ts';
import { newerMembers } from './document.ts';
import {
  type DiagnosticDraft,
  describePlace,
  example,
  navigation,
  type ReportDiagnostic,
  type Rule,
  type Visit,
} from './rule.ts';

/** A key is not part of the schema. */
export const unknownProperty: Rule = {
  severity: 'warning',
  title: 'A key is not part of the format',
  explanation:
    'An unknown key is ignored when the site is built, without a message. Usually the key is misspelled. "$schema" is allowed.',
  wrong: example('"favicn": "/favicon.svg"'),
  right: example('"favicon": "/favicon.svg"'),
  checkObject: ({ fields, annotations }, visit, report) => {
    const { members, path } = visit;
    if (annotations.platforms) return;
    for (const [key, member] of members) {
      if (fields.has(key) || key === '$schema') continue;
      report(() => {
        if (path.length === 0 && newerMembers.has(key)) return draftForNewer(fields, visit, key, member);
        const message = `${quote(key)} is not a field of ${path.length === 0 ? 'the configuration' : describePlace(path).replace(/^Element/, 'element')}.`;
        return draftForKey(fields, visit, key, member, message, didYouMean(key, fields.keys()));
      });
    }
  },
};

/** A platform is not one that the footer supports. */
export const socialPlatform: Rule = {
  severity: 'error',
  title: 'A platform is not one of those listed',
  explanation: 'The footer has icons for a fixed list of platforms. X is listed under its former name, "twitter".',
  wrong: example('"footerSocials": { "x": "https://x.com/acme" }'),
  right: example('"footerSocials": { "twitter": "https://x.com/acme" }'),
  checkObject: ({ fields, annotations }, visit, report) => {
    const aliases = annotations.platforms;
    if (!aliases) return;
    for (const [key, member] of visit.members) {
      if (fields.has(key)) continue;
      report(() => {
        const folded = key.toLowerCase();
        const platform = Object.hasOwn(aliases, folded) ? aliases[folded] : undefined;
        const message = `${quote(key)} is not a platform that the footer supports.`;
        return draftForKey(fields, visit, key, member, message, platform ?? didYouMean(key, fields.keys()));
      });
    }
  },
};

/** A group is used as a page. */
export const nestedGroup: Rule = {
  severity: 'error',
  title: 'A group is nested inside the pages of another group',
  explanation:
    'The pages of a group are paths. Some sites nest groups nevertheless, and some builders accept it. To allow it, use --allow-nested-groups, or allowNestedGroups in the query.',
  wrong: navigation('[{ "group": "Guides", "pages": ["start", { "group": "More", "pages": ["install"] }] }]'),
  right: navigation('[{ "group": "Guides", "pages": ["start"] }, { "group": "More", "pages": ["install"] }]'),
  check: ({ model, kind, members, path, start, end }, report) => {
    if (kind !== 'object' || !model?.annotations.nested) return;
    const isGroup = members.size === 0 || members.has('group') || members.has('pages');
    report(() => ({
      range: { start, end },
      message: `${describePlace(path)} is ${isGroup ? 'a group' : 'an object'}; only paths of pages are allowed here.`,
      suggestion: isGroup
        ? 'Move the group to "navigation", or allow nested groups.'
        : 'Write the path of a page; put a link in "anchors" or "topbarLinks".',
    }));
  },
};

/** A key occurs twice in one object. */
export const duplicateKey: Rule = {
  severity: 'warning',
  title: 'A key occurs twice',
  explanation: 'If a key occurs twice in one object, only the last value counts. The other one is ignored without a message.',
  wrong: example('"favicon": "/old.svg"', '"favicon": "/new.svg"'),
  right: example('"favicon": "/new.svg"'),
};

/** Drafts the diagnostic about a key that occurs twice, also in objects that the schema does not define. */
export function draftDuplicate(key: string, range: TextRange, firstLine: number): DiagnosticDraft {
  const message = `${quote(key)} occurs twice; the value on line ${firstLine} is ignored.`;
  return { key, range, message, suggestion: 'Remove one of them.' };
}

/** A required field is missing. */
export const required: Rule = {
  severity: 'error',
  title: 'A required field is missing',
  explanation:
    'A file needs "name" and "navigation"; "colors" needs "primary"; and "topbarCtaButton" needs "name" unless its type is "github". They have no defaults.',
  wrong: '{\n  "name": "Acme"\n}\n',
  right: example(),
  checkObject: (model, visit, report) => {
    reportMissingFields(model, visit, 'required', report, (key) => `${quote(key)} is required.`);
    const condition = model.annotations.when;
    if (!condition?.requires) return;
    const { field, requires: key } = condition;
    if (visit.members.has(key) || !conditionHolds(visit, condition)) return;
    const message = `${quote(key)} is required while ${quote(field)} is ${quote(condition.is)} or absent.`;
    report(() => draftMissingField(model, visit, key, message));
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
  checkObject: (model, visit, report) => {
    const message = (key: string) => `The background has no ${quote(key)} color; it needs both "light" and "dark".`;
    reportMissingFields(model, visit, 'background-incomplete', report, message);
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
  checkObject: (model, visit, report) =>
    reportMissingFields(model, visit, 'missing-field', report, (key) => `${quote(key)} is missing.`),
};

type Fields = ObjectModel['fields'];

/** Drafts a diagnostic about a key. The known keys of an object are listed once. */
function draftForKey(
  fields: Fields,
  { members, site: { listed } }: Visit,
  key: string,
  { start, end }: TextRange,
  message: string,
  near?: string,
): DiagnosticDraft {
  let suggestion = 'Correct or remove it.';
  if (near !== undefined) {
    suggestion = members.has(near) ? `Remove it: ${quote(near)} is present too.` : `Did you mean ${quote(near)}?`;
  } else if (!listed.has(fields)) {
    listed.add(fields);
    suggestion = `Expected one of: ${quoteList(fields.keys())}.`;
  }
  return { key, range: { start, end }, message, suggestion };
}

/** Drafts a diagnostic about a member of the newer format. */
function draftForNewer(fields: Fields, visit: Visit, key: string, range: TextRange): DiagnosticDraft {
  const counterpart = newerMembers.get(key);
  const message = `${quote(key)} belongs to docs.json; ${counterpart ? `in mint.json it is ${counterpart}` : 'mint.json has nothing like it'}.`;
  if (counterpart) return draftForKey(fields, visit, key, range, message, counterpart);
  return { key, range, message, suggestion: 'Remove it.' };
}

function reportMissingFields(
  model: ObjectModel,
  visit: Visit,
  code: Absent,
  report: ReportDiagnostic,
  message: (key: string) => string,
): void {
  for (const key of model.absent[code])
    if (!visit.members.has(key)) report(() => draftMissingField(model, visit, key, message(key)));
}

/** Drafts a diagnostic at the opening bracket of the object that lacks the field. */
function draftMissingField({ fields }: ObjectModel, { start }: Visit, key: string, message: string): DiagnosticDraft {
  const description = fields.get(key)?.description;
  const suggestion = `Add ${quote(key)}${description ? `: ${description}` : '.'}`;
  return { key, range: { start, end: start + 1 }, message, suggestion };
}

function conditionHolds({ members }: Visit, { field, is, orAbsent }: { field: string; is: string; orAbsent?: true }): boolean {
  const member = members.get(field);
  return member ? member.value === is : orAbsent === true;
}
