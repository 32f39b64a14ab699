import { didYouMean } from '../../did-you-mean.ts';
import { isDamaged, type Member } from '../json/syntax-tree.ts';
import {
  type DiagnosticDraft,
  describePlace,
  example,
  holdsObject,
  navigation,
  quote,
  quoteList,
  type ReportDiagnostic,
  type Rule,
  somePart,
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
  concerns: holdsObject,
  check: (visit, report) => {
    const { branch, members, node } = visit;
    if (branch?.kind !== 'object' || branch.annotations.platforms || isDamaged(node)) return;
    for (const [key, member] of members) {
      if (branch.fields.has(key) || key === '$schema') continue;
      report(() => {
        const message = `${quote(key)} is not a field of ${visit.path.length === 0 ? 'the configuration' : describePlace(visit.path).replace(/^Element/, 'element')}.`;
        return draftForKey(visit, member, message, didYouMean(key, branch.fields.keys()));
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
  concerns: (model) => somePart(model, ({ annotations }) => annotations.platforms !== undefined),
  check: (visit, report) => {
    const { branch, members } = visit;
    const aliases = branch?.annotations.platforms;
    if (branch?.kind !== 'object' || !aliases) return;
    for (const [key, member] of members) {
      if (branch.fields.has(key)) continue;
      report(() => {
        const folded = key.toLowerCase();
        const platform = Object.hasOwn(aliases, folded) ? aliases[folded] : undefined;
        return draftForKey(
          visit,
          member,
          `${quote(key)} is not a platform that the footer supports.`,
          platform ?? didYouMean(key, branch.fields.keys()),
          Object.keys(aliases).filter((alias) => aliases[alias] === platform),
        );
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
  concerns: ({ annotations }) => annotations.nested === true,
  check: ({ model, node, path }, report) => {
    if (!model.annotations.nested || node.kind !== 'object') return;
    const isGroup = node.members.length === 0 || node.members.some(({ key }) => key === 'group' || key === 'pages');
    report(() => ({
      range: node,
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
  checkObject: ({ node, members, line }, report) => {
    if (node.kind !== 'object' || members.size === node.members.length) return;
    const seen = new Map<string, Member>();
    for (const member of node.members) {
      const { key, keyStart, keyEnd } = member;
      const first = seen.get(key);
      seen.set(key, member);
      if (!first) continue;
      report(() => ({
        key,
        range: { start: keyStart, end: keyEnd },
        message: `${quote(key)} occurs twice; the value on line ${line(first.keyStart)} is ignored.`,
        suggestion: 'Remove one of them.',
      }));
    }
  },
};

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
    if (!condition?.requires || isDamaged(visit.node)) return;
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
    const message = (key: string) => `The background has no ${quote(key)} color; it needs both "light" and "dark".`;
    reportMissingFields(visit, 'background-incomplete', report, message);
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

const spellingsOf = new WeakMap<Visit['members'], ReadonlyMap<string, number>>();

/** The number of keys of an object that equal a lowercase key when case is ignored. Counted once per object. */
function countSpellings(members: Visit['members'], folded: string): number {
  let counts = spellingsOf.get(members);
  if (!counts) {
    const made = new Map<string, number>();
    for (const key of members.keys()) made.set(key.toLowerCase(), (made.get(key.toLowerCase()) ?? 0) + 1);
    spellingsOf.set(members, made);
    counts = made;
  }
  return counts.get(folded) ?? 0;
}

/**
 * Drafts a diagnostic about a key. A key that differs from the right one only in case has a fix unless the object has another
 * spelling of it; an alias, unless the object has any other key that stands for the same.
 */
function draftForKey(
  { members, branch }: Visit,
  { key, keyStart, keyEnd }: Member,
  message: string,
  near?: string,
  aliases: readonly string[] = [],
): DiagnosticDraft {
  const range = { start: keyStart, end: keyEnd };
  if (near === undefined) {
    const known = branch?.kind === 'object' ? quoteList(branch.fields.keys()) : '';
    return { key, range, message, suggestion: `Expected one of: ${known}.` };
  }
  const same = new Set([near.toLowerCase(), ...aliases]);
  const rivals = () => [...same].reduce((total, folded) => total + countSpellings(members, folded), 0);
  const certain = same.has(key.toLowerCase()) && !members.has(near) && rivals() === 1;
  return {
    key,
    range,
    message,
    suggestion: members.has(near) ? `Remove it: ${quote(near)} is present too.` : `Did you mean ${quote(near)}?`,
    ...(certain && { fix: { range, newText: JSON.stringify(near) } }),
  };
}

function reportMissingFields(visit: Visit, kind: string, report: ReportDiagnostic, message: (key: string) => string): void {
  const { branch, members, node } = visit;
  if (branch?.kind !== 'object' || isDamaged(node)) return; // the field may have ended up elsewhere
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

function conditionHolds({ members }: Visit, { field, is, orAbsent }: { field: string; is: string; orAbsent?: true }): boolean {
  const value = members.get(field)?.value;
  return value ? value.kind === 'string' && value.value === is : orAbsent === true;
}
