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
  checkMismatch: (visit, report) => {
    if (visit.path.length > 0) return;
    report(() => ({
      range: visit,
      message: `The document is ${describeValue(visit)}; it must be an object.`,
      suggestion: 'Write an object with at least "name" and "navigation".',
    }));
  },
};

/** A value has the wrong JSON type. */
export const type: Rule = {
  severity: 'error',
  title: 'A value has the wrong type',
  explanation: 'Every field has a JSON type, or a choice of two. null is never allowed: omit a field that has no value.',
  wrong: navigation('[{ "group": "Guides", "pages": "guides/start" }]'),
  right: navigation('[{ "group": "Guides", "pages": ["guides/start"] }]'),
  checkMismatch: (visit, report) => {
    const { path, model } = visit;
    if (!model || path.length === 0) return;
    report(() => {
      const message = `${describePlace(path)} must be ${describeModel(model)}, but is ${describeValue(visit)}.`;
      const suggestion =
        visit.kind === 'null'
          ? 'Give it a value; a field that is not required can be left out.'
          : `Write ${describeModel(model)}.`;
      return { range: visit, message, suggestion };
    });
  },
};

/** A string is not one of the allowed values. */
export const enumeration: Rule = {
  severity: 'error',
  title: 'A value is not one of the allowed values',
  explanation: 'Some fields accept only certain words, spelled exactly.',
  wrong: example('"modeToggle": { "default": "drak" }'),
  right: example('"modeToggle": { "default": "dark" }'),
  concerns: ({ kind }) => kind === 'enum',
  checkString: (value, { path, branch, start, end }, report) => {
    if (branch?.kind !== 'enum' || branch.values.includes(value)) return;
    report(() => {
      const near = didYouMean(value.trim(), branch.values);
      const message = `${describePlace(path)} is ${quote(value)}; it must be one of ${quoteList(branch.values)}.`;
      const suggestion = near === undefined ? `Write one of ${quoteList(branch.values)}.` : `Did you mean ${quote(near)}?`;
      return { range: { start, end }, message, suggestion };
    });
  },
};

/** A string is not a color. */
export const hexColor: Rule = {
  severity: 'error',
  title: 'A color is not written as #rgb or #rrggbb',
  explanation:
    'Colors are written in hexadecimal, with three or six digits behind a #, in either case. Color names, rgb() and opacity are not supported.',
  wrong: example('"colors": { "primary": "0d9373" }'),
  right: example('"colors": { "primary": "#0d9373" }'),
  concerns: (part) => part.kind === 'string' && part.pattern !== undefined,
  checkString: (value, { path, branch, start, end }, report) => {
    if (branch?.kind !== 'string' || !branch.pattern || branch.pattern.test(value)) return;
    const { pattern } = branch;
    report(() => {
      const message = `${describePlace(path)} is ${quote(value)}, which is not a color like "#0d9373".`;
      const bare = `#${value.trim().replace(/^(?:#|0x)+/i, '')}`;
      if (pattern.test(bare)) return { range: { start, end }, message, suggestion: `Write ${quote(bare)}.` };
      const opacity = /^#(?:[0-9a-f]{4}|[0-9a-f]{8})$/i.test(bare);
      const shorter = quote(bare.slice(0, bare.length === 5 ? 4 : 7));
      return {
        range: { start, end },
        message,
        suggestion: opacity ? `Remove the opacity: ${shorter}.` : 'Write # and three or six hexadecimal digits.',
      };
    });
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
  checkObject: (_, { branch, members }, report) => {
    const condition = branch?.annotations.when;
    if (!condition?.form) return;
    const { field, pattern } = condition.form;
    const member = members.get(field);
    if (members.get(condition.field)?.value !== condition.is || typeof member?.value !== 'string') return;
    const { value, valueStart: start, valueEnd: end } = member;
    if (new RegExp(pattern).test(value)) return;
    report(() => ({
      key: field,
      range: { start, end },
      message: `With method "basic", ${quote(field)} must be two names with a colon between them, but is ${quote(value)}.`,
      suggestion: 'Write it like "username:password".',
    }));
  },
};

/** A value is empty or blank. */
export const emptyValue: Rule = {
  severity: 'warning',
  title: 'A name, URL, page or list is empty',
  explanation: 'An empty name cannot be read or clicked, an empty URL links to nothing, and a group without pages shows nothing.',
  wrong: example('"topbarLinks": [{ "name": "", "url": "https://example.com" }]'),
  right: example('"topbarLinks": [{ "name": "Support", "url": "https://example.com" }]'),
  concerns: ({ annotations }) => annotations.filled === true,
  check: ({ branch, kind, count, path, start, end }, report) => {
    if (kind !== 'array' || count > 0 || !branch?.annotations.filled) return;
    report(() => ({ range: { start, end }, message: `${describePlace(path)} is empty.`, suggestion: 'Fill it in.' }));
  },
  checkString: (value, { path, start, end }, report) => {
    if (value.trim() !== '') return;
    const found = value === '' ? 'empty' : 'blank';
    report(() => ({ range: { start, end }, message: `${describePlace(path)} is ${found}.`, suggestion: 'Fill it in.' }));
  },
};
