import { shorten } from './pages.ts';
import type { Rule } from './rules/rule.ts';
import { type Code, rules } from './rules/table.ts';

/** What there is to know about a code, as text: its default severity, what it means, and an example of it wrong and right. */
export function explain(code: Code): string {
  const { title, explanation, severity, wrong, right, files }: Rule = rules[code];
  const around = files ? `In a site with the files ${files.join(', ')}:\n\n` : '';
  return `${code}: ${title}

By default ${severity === 'error' ? 'an error' : 'a warning'}.
${explanation}

${around}Wrong:

${indent(shorten(wrong))}

Right:

${indent(right)}

Switch it off: docs-config check --severity ${code}=off
`;
}

/** The command that shows {@link explain}. */
export function explainCommand(code: Code): string {
  return `docs-config explain ${code}`;
}

function indent(text: string): string {
  return text
    .trimEnd()
    .split('\n')
    .map((line) => `  ${line}`)
    .join('\n');
}
