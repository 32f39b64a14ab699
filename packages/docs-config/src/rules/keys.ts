import type { Absent, ObjectModel } from '../model.ts';
import type { TextRange } from '../positions.ts';
import { didYouMean, quote, quoteList } from '../words.ts';
import {
  type Check,
  type CheckFor,
  type DiagnosticDraft,
  describePlace,
  example,
  navigation,
  type Part,
  type Rule,
  type Visit,
} from './rule.ts';

/** A key is not part of the schema. Reported when the key is read, like the next one. */
export const unknownProperty: Rule = {
  severity: 'warning',
  title: 'A key is not part of the format',
  explanation:
    'An unknown key is ignored when the site is built, without a message. Usually the key is misspelled. "$schema" is allowed.',
  wrong: example('"favicn": "/favicon.svg"'),
  right: example('"favicon": "/favicon.svg"'),
};

/** A platform is not one that the footer supports. */
export const socialPlatform: Rule = {
  severity: 'error',
  title: 'A platform is not one of those listed',
  explanation: 'The footer has icons for a fixed list of platforms. X is listed under its former name, "twitter".',
  wrong: example('"footerSocials": { "x": "https://x.com/acme" }'),
  right: example('"footerSocials": { "twitter": "https://x.com/acme" }'),
};

/** A group is used as a page. */
export const nestedGroup: Rule = {
  severity: 'error',
  title: 'A group is nested inside the pages of another group',
  explanation:
    'The pages of a group are paths. Some sites nest groups nevertheless, and some builders accept it. To allow it, use --allow-nested-groups, or allowNestedGroups in the query.',
  wrong: navigation('[{ "group": "Guides", "pages": ["start", { "group": "More", "pages": ["install"] }] }]'),
  right: navigation('[{ "group": "Guides", "pages": ["start"] }, { "group": "More", "pages": ["install"] }]'),
  checkFor: ({ kind, model }) =>
    kind === 'object' &&
    model.annotations.nested &&
    ((visit, report) =>
      report(() => {
        const { keys, path } = visit;
        const isGroup = keys.size === 0 || keys.has('group') || keys.has('pages');
        return {
          range: visit,
          message: `${describePlace(path)} is ${isGroup ? 'a group' : 'an object'}; only paths of pages are allowed here.`,
          suggestion: isGroup
            ? 'Move the group to "navigation", or allow nested groups.'
            : 'Write the path of a page; put a link in "anchors" or "topbarLinks".',
        };
      })),
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
export function draftDuplicate(key: string, range: TextRange): DiagnosticDraft {
  return { key, range, message: `${quote(key)} occurs twice; only the last value counts.`, suggestion: 'Remove one of them.' };
}

/** Members of the newer format. Older files have "theme", too. */
const newerMembers = 'appearance banner contextual errors fonts footer icons navbar styling thumbnails'.split(' ');

/** Drafts the diagnostic about a key that the schema does not have. The known keys of an object are listed once. */
export function draftUnknown(model: ObjectModel, key: string, range: TextRange, { keys, path, site }: Visit): DiagnosticDraft {
  const { fields, annotations } = model;
  const { platforms, aliases = {} } = annotations;
  const word = key.toLowerCase();
  const near = Object.hasOwn(aliases, word) ? aliases[word] : didYouMean(key, fields.keys());
  const place = path.length === 0 ? 'the configuration' : describePlace(path).replace(/^Element/, 'element');
  const message =
    path.length === 0 && newerMembers.includes(key)
      ? `${quote(key)} belongs to docs.json; ${near ? `in mint.json it is ${near}` : 'mint.json has nothing like it'}.`
      : `${quote(key)} is not a ${platforms ? 'platform that the footer supports' : `field of ${place}`}.`;
  let suggestion = `Did you mean ${quote(near ?? '')}?`;
  if (near === undefined) {
    suggestion = site.listed.has(model) ? 'Correct or remove it.' : `Expected one of: ${quoteList(fields.keys())}.`;
    site.listed.add(model);
  } else if (keys.has(near)) suggestion = `Remove it: ${quote(near)} is present too.`;
  return { key, range, message, suggestion };
}

/** A required field is missing. */
export const required: Rule = {
  severity: 'error',
  title: 'A required field is missing',
  explanation:
    'A file needs "name" and "navigation"; "colors" needs "primary"; and "topbarCtaButton" needs "name" unless its type is "github". They have no defaults.',
  wrong: '{\n  "name": "Acme"\n}\n',
  right: example(),
  checkFor: (part) => checkMissing('required', (key) => `${key} is required.`)(part) || checkCondition(part),
};

/** One background color is set without the other. */
export const backgroundIncomplete: Rule = {
  severity: 'error',
  title: 'A background color is given for one mode only',
  explanation:
    '"colors.background" holds a color for each mode. With one missing, readers in that mode would see an arbitrary background.',
  wrong: example('"colors": { "primary": "#0d9373", "background": { "dark": "#0f1117" } }'),
  right: example('"colors": { "primary": "#0d9373", "background": { "light": "#ffffff", "dark": "#0f1117" } }'),
  checkFor: checkMissing(
    'background-incomplete',
    (key) => `The background has no ${key} color; it needs both "light" and "dark".`,
  ),
};

/** A recommended field is missing. */
export const missingField: Rule = {
  severity: 'warning',
  title: 'A recommended field is missing',
  explanation:
    'A group is expected to have "group" and "pages"; a link, tab or anchor "name" and "url"; a logo "light" and "dark"; a gradient "from" and "to". The site can be built without them, but part of it will look empty.',
  wrong: example('"tabs": [{ "name": "Guides" }]'),
  right: example('"tabs": [{ "name": "Guides", "url": "guides" }]'),
  checkFor: checkMissing('missing-field', (key) => `${key} is missing.`),
};

/** Checks objects for missing fields whose absence has a code. */
function checkMissing(code: Absent, describe: (key: string) => string): CheckFor {
  return ({ branch }) => {
    if (branch?.kind !== 'object' || branch.absent[code].length === 0) return undefined;
    return (visit, report) => {
      for (const key of branch.absent[code])
        if (!visit.keys.has(key)) report(() => draftMissingField(branch, visit, key, describe(quote(key))));
    };
  };
}

/** Drafts a diagnostic at the opening bracket of the object that lacks the field. */
function draftMissingField({ fields }: ObjectModel, { start }: Visit, key: string, message: string): DiagnosticDraft {
  const description = fields.get(key)?.description;
  const suggestion = `Add ${quote(key)}${description ? `: ${description}` : '.'}`;
  return { key, range: { start, end: start + 1 }, message, suggestion };
}

/** Checks objects in which a field is required while another has a certain value. */
function checkCondition({ branch }: Part): Check | undefined {
  const { field, is, orAbsent, requires: key } = branch?.annotations.when ?? {};
  if (branch?.kind !== 'object' || field === undefined || is === undefined || key === undefined) return undefined;
  return (visit, report) => {
    const member = visit.members.get(field);
    if (visit.keys.has(key) || (member ? member.value !== is : !orAbsent)) return;
    const message = `${quote(key)} is required while ${quote(field)} is ${quote(is)} or absent.`;
    report(() => draftMissingField(branch, visit, key, message));
  };
}
