import type { Range } from './positions.ts';
import { type CheckedFile, renderPretty } from './pretty.ts';
import { codes, rules } from './rules/registry.ts';
import type { Rule } from './rules/rule.ts';
import type { Diagnostic } from './validate.ts';
import { escapeControls, escapeJson } from './words.ts';

/** What renders each format. Only `pretty` has color, where the stream supports it. */
export const formats = { pretty: renderPretty, json: renderJson, sarif: renderSarif, github: renderGithub } as const;

/** The name of a format. */
export type Format = keyof typeof formats;

/** Renders one JSON object on one line: the files in order, each with its diagnostics. */
function renderJson(checked: readonly CheckedFile[]): string {
  const files = checked.map(({ file, report: { valid, diagnostics } }) => ({ file, valid, diagnostics }));
  return `${escapeJson(JSON.stringify({ files }))}\n`;
}

/** Renders workflow commands of GitHub Actions, one per diagnostic, which annotate the changed lines of a pull request. */
function renderGithub(checked: readonly CheckedFile[]): string {
  return checked
    .flatMap(({ file, report }) => report.diagnostics.map((diagnostic) => renderAnnotation(file, diagnostic)))
    .join('');
}

function renderAnnotation(file: string, { code, severity, message, suggestion, range }: Diagnostic): string {
  const { start, end } = range;
  const properties: [string, string | number][] = [
    ['file', file],
    ['line', start.line],
    ['endLine', end.line],
  ];
  // GitHub accepts columns only when the range is on one line.
  if (start.line === end.line) properties.push(['col', start.column], ['endColumn', end.column]);
  properties.push(['title', `docs-config ${code}`]);
  const list = properties.map(([name, value]) => `${name}=${escapeProperty(String(value))}`).join(',');
  return `::${severity} ${list}::${escapeData(suggestion ? `${message} ${suggestion}` : message)}\n`;
}

function escapeData(text: string): string {
  return escapeControls(text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A'));
}

function escapeProperty(text: string): string {
  return escapeData(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}

/** Renders a SARIF 2.1.0 log, for code scanning on GitHub, GitLab and others. */
function renderSarif(checked: readonly CheckedFile[]): string {
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
      text: `${explanation}\n\nCorrect:\n${right}\nMore: docs-config explain ${code}`,
      markdown: `${explanation}\n\nCorrect:\n\n\`\`\`json\n${right}\`\`\`\n`,
    },
    defaultConfiguration: { level: severity },
  };
}

function describeResult(uri: string, { code, severity, message, suggestion, pointer, range }: Diagnostic) {
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
