import { escapeJson } from '../../terminal-text.ts';
import type { Diagnostic } from '../diagnostic.ts';
import { explainCommand } from '../explain.ts';
import type { Range } from '../json/positions.ts';
import { codes, rules } from '../rules/registry.ts';
import type { Rule } from '../rules/rule.ts';
import type { CheckedFile } from './checked-file.ts';

/** Renders a SARIF 2.1.0 log, for code scanning on GitHub, GitLab and others. */
export function renderSarif(checked: readonly CheckedFile[]): string {
  const log = {
    $schema: 'https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: { driver: { name: 'docs-config', rules: codes.map(describeRule) } },
        columnKind: 'utf16CodeUnits',
        results: checked.flatMap(({ file, report }) =>
          report.diagnostics.map((diagnostic) => describeResult(toFileUri(file), diagnostic)),
        ),
      },
    ],
  };
  return `${escapeJson(JSON.stringify(log, null, 2))}\n`;
}

function describeRule(code: (typeof codes)[number]) {
  const { title, explanation, severity, right }: Rule = rules[code];
  return {
    id: code,
    shortDescription: { text: `${title}.` },
    fullDescription: { text: explanation },
    help: {
      text: `${explanation}\n\nCorrect:\n${right}\nMore: ${explainCommand(code)}`,
      markdown: `${explanation}\n\nCorrect:\n\n\`\`\`json\n${right}\`\`\`\n`,
    },
    defaultConfiguration: { level: severity },
  };
}

function describeResult(uri: string, { code, severity, message, suggestion, pointer, range, fix }: Diagnostic) {
  return {
    ruleId: code,
    ruleIndex: codes.indexOf(code),
    level: severity,
    message: { text: (suggestion ? `${message} ${suggestion}` : message).toWellFormed() },
    locations: [
      {
        physicalLocation: { artifactLocation: { uri }, region: describeRegion(range) },
        ...(pointer && { logicalLocations: [{ fullyQualifiedName: pointer.toWellFormed() }] }),
      },
    ],
    ...(fix && {
      fixes: [
        {
          description: { text: suggestion ?? message },
          artifactChanges: [
            {
              artifactLocation: { uri },
              replacements: [{ deletedRegion: describeRegion(fix.range), insertedContent: { text: fix.newText } }],
            },
          ],
        },
      ],
    }),
  };
}

function describeRegion({ start, end }: Range) {
  return {
    startLine: start.line,
    startColumn: start.column,
    endLine: end.line,
    endColumn: end.column,
    charOffset: start.offset,
    charLength: end.offset - start.offset,
  };
}

/** Converts a path to a relative reference, or an absolute path to a file URI. */
function toFileUri(file: string): string {
  if (file === '-') return 'stdin';
  const path = file.replaceAll('\\', '/').toWellFormed().split('/').map(encodeURIComponent).join('/');
  if (path.startsWith('/')) return `file://${path}`;
  return /^[A-Za-z]%3A\//.test(path) ? `file:///${path.replace('%3A', ':')}` : path;
}
