import { didYouMean } from '../../did-you-mean.ts';
import type { Edit } from '../json/parser-state.ts';
import { isDamaged, type JsonNode, type StringNode } from '../json/syntax-tree.ts';
import { forms } from '../schema/annotations.ts';
import { docsConfigModel, type SchemaModel } from '../schema/schema-model.ts';
import {
  describeModel,
  describePlace,
  describeValue,
  example,
  navigation,
  quote,
  quoteList,
  type Rule,
  somePart,
  type Visit,
} from './rule.ts';

/** The document is not an object. */
export const rootType: Rule = {
  severity: 'error',
  title: 'The document is not an object',
  explanation:
    'The file must contain one JSON object, between { and }, with the fields of the configuration, not an array, a string or a number.',
  wrong: '[{ "name": "Acme" }]\n',
  right: example(),
  concerns: (model) => model === docsConfigModel,
  check: ({ path, branch, node, text }, report) => {
    if (branch || path.length > 0) return;
    report(() => ({
      range: node,
      message: `The document is ${describeValue(text, node)}; it must be an object.`,
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
  check: ({ path, branch, model, node, text }, report) => {
    if (branch || path.length === 0) return;
    report(() => {
      const edit = fixType(model, node, text);
      const message = `${describePlace(path)} must be ${describeModel(model)}, but is ${describeValue(text, node)}.`;
      const suggestion = edit
        ? `Write ${edit.newText}.`
        : node.kind === 'null'
          ? 'Give it a value; a field that is not required can be left out.'
          : `Write ${describeModel(model)}.`;
      return { range: node, message, suggestion, ...(edit && { fix: edit }) };
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
  concerns: (model) => somePart(model, ({ kind }) => kind === 'enum'),
  check: ({ path, branch, node }, report) => {
    if (branch?.kind !== 'enum' || node.kind !== 'string' || branch.values.includes(node.value)) return;
    report(() => {
      const near = didYouMean(node.value.trim(), branch.values);
      const message = `${describePlace(path)} is ${quote(node.value)}; it must be one of ${quoteList(branch.values)}.`;
      if (near === undefined) return { range: node, message, suggestion: `Write one of ${quoteList(branch.values)}.` };
      const certain = near === node.value.trim().toLowerCase();
      return { range: node, message, suggestion: `Did you mean ${quote(near)}?`, ...(certain && { fix: rewrite(node, near) }) };
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
  concerns: (model) => somePart(model, (part) => part.kind === 'string' && part.pattern !== undefined),
  check: ({ path, branch, node }, report) => {
    if (branch?.kind !== 'string' || node.kind !== 'string' || !branch.pattern || branch.pattern.test(node.value)) return;
    const { pattern } = branch;
    report(() => {
      const message = `${describePlace(path)} is ${quote(node.value)}, which is not a color like "#0d9373".`;
      const bare = `#${node.value.trim().replace(/^(?:#|0x)+/i, '')}`;
      if (pattern.test(bare)) return { range: node, message, suggestion: `Write ${quote(bare)}.`, fix: rewrite(node, bare) };
      const opacity = /^#(?:[0-9a-f]{4}|[0-9a-f]{8})$/i.test(bare);
      const shorter = quote(bare.slice(0, bare.length === 5 ? 4 : 7));
      return {
        range: node,
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
  concerns: (model) => somePart(model, ({ annotations }) => annotations.when?.form !== undefined),
  check: ({ branch, members }, report) => {
    const condition = branch?.annotations.when;
    if (!condition?.form) return;
    const { field, is } = condition.form;
    const deciding = members.get(condition.field)?.value;
    const value = members.get(field)?.value;
    if (deciding?.kind !== 'string' || deciding.value !== condition.is || value?.kind !== 'string') return;
    if (forms[is].test(value.value)) return;
    report(() => ({
      key: field,
      range: value,
      message: `With method "basic", ${quote(field)} must be two names with a colon between them, but is ${quote(value.value)}.`,
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
  concerns: (model) => somePart(model, ({ annotations }) => annotations.filled === true),
  check: (visit, report) => {
    if (!visit.branch?.annotations.filled || !isEmpty(visit)) return;
    const { node, path } = visit;
    const found = node.kind === 'string' && node.value !== '' ? 'blank' : 'empty';
    report(() => ({ range: node, message: `${describePlace(path)} is ${found}.`, suggestion: 'Fill it in.' }));
  },
};

function isEmpty({ node }: Visit): boolean {
  if (node.kind === 'array') return node.items.length === 0 && !isDamaged(node);
  return node.kind === 'string' && node.value.trim() === '';
}

/** The fix for a wrong type when only one value can be meant: "true" for a boolean, or 1.0 for a string. */
function fixType(model: SchemaModel, node: JsonNode, text: string): Edit | undefined {
  if (model.kind === 'boolean' && node.kind === 'string' && /^(?:true|false)$/i.test(node.value)) {
    return { range: node, newText: node.value.toLowerCase() };
  }
  if (model.kind === 'string' && !model.pattern && node.kind === 'number' && node.end - node.start <= 20) {
    return { range: node, newText: `"${text.slice(node.start, node.end)}"` };
  }
  return undefined;
}

function rewrite(node: StringNode, value: string): Edit {
  return { range: node, newText: JSON.stringify(value) };
}
