import { type Code, rules } from './rules/registry.ts';
import type { Rule } from './rules/rule.ts';

/** Explains a code as text: its default severity, its meaning, and a wrong and a correct example. */
export function explain(code: Code): string {
  const { title, explanation, severity, wrong, right, files }: Rule = rules[code];
  const around = files ? `In a site with the files ${files.join(', ')}:\n\n` : '';
  return `${code}: ${title}

By default ${severity === 'error' ? 'an error' : 'a warning'}.
${explanation}

${around}Wrong:

${indent(shortenExample(wrong))}

Correct:

${indent(right)}

Switch it off: docs-config check --severity ${code}=off
`;
}

/** The command that prints {@link explain}. */
export function explainCommand(code: Code): string {
  return `docs-config explain ${code}`;
}

/** Shortens an example that is too long to print, such as one with 1,001 entries. */
export function shortenExample(text: string): string {
  return text.length > 2000 ? `${text.slice(0, 400)}…` : text;
}

function indent(text: string): string {
  return text
    .trimEnd()
    .split('\n')
    .map((line) => `  ${line}`)
    .join('\n');
}
