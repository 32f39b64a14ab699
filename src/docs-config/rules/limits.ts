import { example, navigation } from './example.ts';
import type { Rule } from './rule.ts';

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
