import { type JsonNode, valueUnder } from '../json/syntax-tree.ts';
import { type DiagnosticDraft, example, navigation, type Rule } from './rule.ts';

/** The text is not JSON. Reported by the parser. */
export const jsonSyntax: Rule = {
  severity: 'error',
  title: 'The file is not strict JSON',
  explanation:
    'JSON has double quotes around keys and strings, commas between members and none after the last, no comments, and one value in a file. Each problem is reported with a fix or a suggestion, and the rest is checked as far as it can be parsed.',
  wrong: example('"favicon": "/favicon.svg",'),
  right: example('"favicon": "/favicon.svg"'),
};

/** The document is nested too deep. Reported by the parser. */
export const tooDeep: Rule = {
  severity: 'error',
  title: 'The file is nested deeper than 200 levels',
  explanation: 'No configuration needs more than a dozen levels. Anything deeper than 200 is not read.',
  wrong: example(`"$schema": ${'['.repeat(200)}${']'.repeat(200)}`),
  right: example(),
};

/** There are more diagnostics than the list holds. Reported by the collector. */
export const tooManyDiagnostics: Rule = {
  severity: 'warning',
  title: 'There are more diagnostics than are listed',
  explanation: 'A list of diagnostics ends at 1,000, errors before warnings. The rest appears when these are corrected.',
  wrong: navigation(`[{ "group": "Guides", "pages": [${Array(1001).fill('1').join(', ')}] }]`),
  right: example(),
};

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
