import { type JsonNode, valueUnder } from '../json/syntax-tree.ts';
import { example } from './example.ts';
import type { DiagnosticDraft, Rule } from './rule.ts';

/** The document is in the newer format, which this validator does not support. */
export const newerFormat: Rule = {
  severity: 'error',
  title: 'The file is in the newer docs.json format',
  explanation:
    'In the newer format "navigation" is an object and "theme" is required; the file is called docs.json. This validator checks the format of mint.json, so nothing else is reported for such a file. Check it with the tool that builds the site, and remove it from the files checked here.',
  wrong: `{
  "$schema": "https://mintlify.com/docs.json",
  "theme": "mint",
  "name": "Acme",
  "colors": { "primary": "#0d9373" },
  "navigation": { "groups": [{ "group": "Guides", "pages": ["guides/start"] }] }
}
`,
  right: example(),
};

/** Whether a document is in the newer format: its `navigation` is an object, and it has a `theme`. */
export function isNewerFormat(root: JsonNode): boolean {
  return valueUnder(root, 'navigation')?.kind === 'object' && valueUnder(root, 'theme') !== undefined;
}

/** Drafts the diagnostic about the whole document. */
export function draftNewerFormat(root: JsonNode): DiagnosticDraft {
  return {
    range: root,
    message: 'The document is in the newer docs.json format: "navigation" is an object, and there is a "theme".',
    suggestion: 'Check it with a tool for docs.json, or write "navigation" as an array of groups.',
  };
}
