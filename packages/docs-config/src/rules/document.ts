import { quote } from '../words.ts';
import { type DiagnosticDraft, example, navigation, type Rule, type Visit } from './rule.ts';

/** The text is not JSON. Reported by the parser. */
export const jsonSyntax: Rule = {
  severity: 'error',
  title: 'The file is not strict JSON',
  explanation:
    'JSON has double quotes around keys and strings, commas between members and none after the last, no comments, and one value in a file. The first mistake is reported; the rest is checked once it is corrected.',
  wrong: example('"favicon": "/favicon.svg",'),
  right: example('"favicon": "/favicon.svg"'),
};

/** The document is nested too deep. Reported by the parser. */
export const tooDeep: Rule = {
  severity: 'error',
  title: 'The file is nested deeper than 200 levels',
  explanation: 'No configuration needs more than a dozen levels. A file with more than 200 is not read.',
  wrong: example(`"$schema": ${'['.repeat(200)}${']'.repeat(200)}`),
  right: example(),
};

/** There are more diagnostics than the list holds. */
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
    'In the newer format the file is called docs.json, "$schema" ends in docs.json, and "navigation" is an object. This validator checks mint.json, so nothing else is reported for such a file. Check it with the tool that builds the site.',
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

/** The last part of the name or address of a file of the newer format; in the JSON Schema, too. */
export const newerFile = /(?:^|\/)docs\.json$/;

/** The one diagnostic about a document in the newer format; undefined for any other document. */
export function findNewerFormat({ members, start }: Visit, fileName = ''): DiagnosticDraft | undefined {
  const schema = members.get('$schema')?.value;
  const signs = [
    newerFile.test(fileName) && 'the file is named docs.json',
    schema !== undefined && newerFile.test(schema) && `"$schema" is ${quote(schema)}`,
    members.get('navigation')?.kind === 'object' && '"navigation" is an object',
  ].filter(Boolean);
  if (signs.length === 0) return undefined;
  return {
    range: { start, end: start + 1 },
    message: `The document is in the newer docs.json format: ${signs.join(', and ')}. This tool checks mint.json.`,
    suggestion: 'Check it with the tool that builds the site; a mint.json has that name, and a list of groups as "navigation".',
  };
}
