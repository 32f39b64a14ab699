import { readFileSync } from 'node:fs';
import { parser } from '@prometheus-io/lezer-promql';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { errorCatalog } from '../../src/error-catalog.ts';
import { type MetricDefinition, metricDefinitions, registry } from '../../src/metrics.ts';
import { routes } from '../support/routes.ts';

const definitions: readonly MetricDefinition[] = Object.values(metricDefinitions);

/** The labels that Prometheus adds, and those of each exported series, by its name. */
const added = ['job', 'instance'];
const exported = new Map<string, readonly string[]>([['up', added]]);
for (const { name } of registry.getMetricsAsArray()) exported.set(name, added); // those of every Node.js process
for (const { name, type, labelNames } of definitions) {
  const all = [...labelNames, ...added];
  if (type !== 'histogram') exported.set(name, all);
  else
    exported
      .set(`${name}_bucket`, [...all, 'le'])
      .set(`${name}_sum`, all)
      .set(`${name}_count`, all);
}

/**
 * What an expression of PromQL selects: each series with the labels that it is compared by, and the labels that it is grouped by.
 */
interface Selection {
  readonly series: readonly { readonly name: string; readonly matchers: readonly (readonly [label: string, value: string])[] }[];
  readonly grouping: readonly string[];
}

/** Reads an expression. @throws Error when it is not PromQL. */
function selectionOf(expression: string): Selection {
  // Grafana's variables; the interval is one where a duration is expected.
  const text = expression.replaceAll('$__rate_interval', '5m');
  const series: { name: string; matchers: [string, string][] }[] = [];
  const grouping: string[] = [];
  parser.parse(text).iterate({
    enter({ type, from, to, node }) {
      const own = text.slice(from, to);
      if (type.isError) throw new Error(`Not PromQL at character ${from}: ${expression}`);
      if (type.name === 'VectorSelector') series.push({ name: text.slice(from, node.firstChild?.to), matchers: [] });
      if (type.name === 'UnquotedLabelMatcher') {
        const [, label = '', value = ''] = /^(\w+)\s*(?:=~|!~|!=|=)\s*"(.*)"$/.exec(own) ?? [];
        series.at(-1)?.matchers.push([label, value]);
      }
      if (type.name === 'GroupingLabels')
        grouping.push(
          ...own
            .slice(1, -1)
            .split(',')
            .map((label) => label.trim()),
        );
    },
  });
  return { series, grouping };
}

interface Panel {
  readonly title: string;
  readonly targets: readonly { readonly expr: string; readonly legendFormat: string }[];
}
interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly annotations: Readonly<Record<string, string>>;
}

const dashboard = JSON.parse(readFileSync('deploy/grafana/user-group-gateway.json', 'utf8')) as { panels: readonly Panel[] };
const alerts = parse(readFileSync('deploy/prometheus/alerts.yaml', 'utf8')) as { groups: readonly { rules: readonly Rule[] }[] };
const rules = alerts.groups.flatMap((group) => group.rules);

const panels = dashboard.panels.flatMap(({ title, targets }) =>
  targets.map(({ expr, legendFormat }) => [title, expr, legendFormat] as const),
);
const expressions = [
  ...panels,
  ...rules.map(({ alert, expr, annotations }) => [alert, expr, Object.values(annotations).join()] as const),
];

test.each(expressions)('%s selects only what is exported: %s', (_, expr, texts) => {
  const { series, grouping } = selectionOf(expr);
  expect(series.length).toBeGreaterThan(0);
  const shown = [...texts.matchAll(/\{\{(?: \$labels\.)?([a-z_]+) ?/g)].map(([, label]) => label);
  for (const { name, matchers } of series) {
    expect([name, exported.has(name)]).toEqual([name, true]);
    expect(exported.get(name)).toEqual(expect.arrayContaining(matchers.map(([label]) => label)));
  }
  const labels = series.flatMap(({ name }) => exported.get(name) ?? []);
  expect(labels).toEqual(expect.arrayContaining([...grouping, ...shown]));
});

/** The values of labels that are known from the start. */
const known: Record<string, readonly string[]> = {
  code: Object.keys(errorCatalog),
  route: routes.map(({ path }) => path),
  result: ['success', 'failure'],
  queue: ['database_connections'],
  state: ['idle', 'busy'],
};

test('the values of labels in expressions exist', () => {
  const matchers = expressions.flatMap(([, expr]) => selectionOf(expr).series.flatMap((each) => each.matchers));
  const compared = matchers.filter(([label]) => known[label] !== undefined);
  expect(compared.length).toBeGreaterThan(5);
  for (const [label, value] of compared) expect(known[label]).toEqual(expect.arrayContaining(value.split('|')));
});

test('docs/observability.md lists every metric with its type, its labels and its meaning', () => {
  const page = readFileSync('docs/observability.md', 'utf8');
  const rows = [...page.matchAll(/^\| `([a-z_]+)` \| (\w+) \| (.*) \| (.*) \|$/gm)].map(([, name, type, labels, help]) => [
    name,
    type,
    labels,
    help,
  ]);
  expect(rows).toEqual(
    definitions.map(({ name, type, labelNames, help }) => [
      name,
      type,
      labelNames.map((label) => `\`${label}\``).join(', '),
      help,
    ]),
  );
});

test('docs/observability.md lists every alert', () => {
  const page = readFileSync('docs/observability.md', 'utf8');
  expect([...page.matchAll(/^\| `(Gateway\w+)` \|/gm)].map(([, name]) => name)).toEqual(rules.map(({ alert }) => alert));
});
