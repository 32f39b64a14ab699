import { docsConfigModel } from '../model.ts';
import { didYouMean, quote, quoteList } from '../words.ts';
import { describeModel, describePlace, describeValue, example, navigation, type Rule } from './rule.ts';

/** The document is not an object. */
export const rootType: Rule = {
  severity: 'error',
  title: 'The document is not an object',
  explanation:
    'The file must contain one JSON object, between { and }, with the fields of the configuration, not an array, a string or a number.',
  wrong: '[{ "name": "Acme" }]\n',
  right: example(),
  checkFor: ({ model, branch }) =>
    model === docsConfigModel &&
    !branch &&
    ((visit, report) =>
      report(() => ({
        range: visit,
        message: `The document is ${describeValue(visit)}; it must be an object.`,
        suggestion: 'Write an object with at least "name" and "navigation".',
      }))),
};

/** A value has the wrong JSON type. */
export const type: Rule = {
  severity: 'error',
  title: 'A value has the wrong type',
  explanation: 'Every field has a JSON type, or a choice of two. null is never allowed: omit a field that has no value.',
  wrong: navigation('[{ "group": "Guides", "pages": "guides/start" }]'),
  right: navigation('[{ "group": "Guides", "pages": ["guides/start"] }]'),
  checkFor: ({ model, branch }) =>
    model !== docsConfigModel &&
    !branch &&
    ((visit, report) =>
      report(() => {
        const message = `${describePlace(visit.path)} must be ${describeModel(model)}, but is ${describeValue(visit)}.`;
        const suggestion =
          visit.kind === 'null'
            ? 'Give it a value; a field that is not required can be left out.'
            : `Write ${describeModel(model)}.`;
        return { range: visit, message, suggestion };
      })),
};

/** A string is not one of the allowed values. */
export const enumeration: Rule = {
  severity: 'error',
  title: 'A value is not one of the allowed values',
  explanation: 'Some fields accept only certain words, spelled exactly.',
  wrong: example('"modeToggle": { "default": "drak" }'),
  right: example('"modeToggle": { "default": "dark" }'),
  checkFor: ({ branch }) =>
    branch?.kind === 'enum' &&
    ((visit, report) => {
      const { value = '', path } = visit;
      if (branch.values.includes(value)) return;
      report(() => {
        const near = didYouMean(value.trim(), branch.values);
        const message = `${describePlace(path)} is ${quote(value)}; it must be one of ${quoteList(branch.values)}.`;
        return { range: visit, message, ...(near !== undefined && { suggestion: `Did you mean ${quote(near)}?` }) };
      });
    }),
};

/** A string is not a color. */
export const hexColor: Rule = {
  severity: 'error',
  title: 'A color is not written as #rgb or #rrggbb',
  explanation:
    'Colors are written in hexadecimal, with three or six digits behind a #, in either case. Color names, rgb() and opacity are not supported.',
  wrong: example('"colors": { "primary": "0d9373" }'),
  right: example('"colors": { "primary": "#0d9373" }'),
  checkFor: ({ branch }) => {
    const pattern = branch?.kind === 'string' && branch.pattern;
    if (!pattern) return undefined;
    return (visit, report) => {
      const { value = '', path } = visit;
      if (pattern.test(value)) return;
      report(() => {
        const message = `${describePlace(path)} is ${quote(value)}, which is not a color like "#0d9373".`;
        const bare = `#${value.trim().replace(/^(?:#|0x)+/i, '')}`;
        const suggestion = pattern.test(bare) ? `Write ${quote(bare)}.` : 'Write # and three or six hexadecimal digits.';
        return { range: visit, message, suggestion };
      });
    };
  },
};

/** The name for basic authentication does not name both parts. */
export const basicAuthName: Rule = {
  severity: 'error',
  title: 'The name for basic authentication is not two names with a colon',
  explanation:
    'Basic authentication has two fields, so "api.auth.name" has a label for each: one for the user name, a colon, and one for the password.',
  wrong: example('"api": { "auth": { "method": "basic", "name": "Authorization" } }'),
  right: example('"api": { "auth": { "method": "basic", "name": "username:password" } }'),
  checkFor: ({ branch }) => {
    const condition = branch?.annotations.when;
    if (!condition?.form) return undefined;
    const { field, pattern } = condition.form;
    return ({ members }, report) => {
      const member = members.get(field);
      if (members.get(condition.field)?.value !== condition.is || member?.value === undefined) return;
      const { value, start, end } = member;
      if (new RegExp(pattern).test(value)) return;
      report(() => ({
        key: field,
        range: { start, end },
        message: `With method "basic", ${quote(field)} must be two names with a colon between them, but is ${quote(value)}.`,
        suggestion: 'Write it like "username:password".',
      }));
    };
  },
};

/** A value is empty or blank. */
export const emptyValue: Rule = {
  severity: 'warning',
  title: 'A name, URL, page or list is empty',
  explanation: 'An empty name cannot be read or clicked, an empty URL links to nothing, and a group without pages shows nothing.',
  wrong: example('"topbarLinks": [{ "name": "", "url": "https://example.com" }]'),
  right: example('"topbarLinks": [{ "name": "Support", "url": "https://example.com" }]'),
  checkFor: ({ branch }) =>
    branch?.annotations.filled === true &&
    ((visit, report) => {
      const { value, count, path } = visit;
      if (value === undefined ? count > 0 : value.trim() !== '') return;
      report(() => ({ range: visit, message: `${describePlace(path)} is empty.`, suggestion: 'Fill it in.' }));
    }),
};
