// Compares what the parser of docs-config and the npm package jsonc-parser report on documents in which one structural character
// is deleted, inserted or replaced. The first run installs the package into a cache folder.

import { createRequire } from 'node:module';
import { parseJson } from '../src/docs-config/json/parse-json.ts';
import type { JsonNode } from '../src/docs-config/json/syntax-tree.ts';
import { installPackage } from './cached-package.ts';
import { sites } from './docs-config.ts';

const peer = { name: 'jsonc-parser', version: '3.3.1', entry: 'lib/umd/main.js' };
const structural = '{}[],:"';

/** The part of the package that is used. */
interface JsoncParser {
  parseTree(text: string, errors: unknown[], options: object): JsoncNode | undefined;
}

interface JsoncNode {
  readonly type: string;
  readonly value?: unknown;
  readonly children?: readonly JsoncNode[];
}

/** A document with one wrong character. */
interface Damage {
  readonly kind: string;
  readonly original: string;
  readonly text: string;
}

/** The result of a parser: how many problems it reported, and the values that it kept, each with its path. */
interface Outcome {
  readonly problems: number;
  readonly values: readonly string[];
}

/** Compares the parsers, and writes one line for each kind of damage. */
export async function run(write: (text: string) => unknown): Promise<void> {
  const entry = installPackage(peer);
  if (entry === undefined) throw new Error(`${peer.name} could not be installed.`);
  const jsonc = createRequire(import.meta.url)(entry) as JsoncParser;
  const byKind = new Map<string, Damage[]>();
  for (const document of [...sites()].slice(0, 2)) {
    for (const damage of damagesOf(document)) byKind.set(damage.kind, [...(byKind.get(damage.kind) ?? []), damage]);
  }
  write(`Ours / ${peer.name} ${peer.version}. Values kept: with the same path as without the damage.\n\n`);
  write('| damage | texts | one diagnostic | diagnostics, mean | values kept |\n|---|---|---|---|---|\n');
  const all = [...byKind.values()].flat();
  for (const [kind, damages] of [...byKind, ['all', all] as const]) {
    const ours = measure(damages, parseOurs);
    const theirs = measure(damages, (text) => parseTheirs(jsonc, text));
    const cells = (['one', 'mean', 'kept'] as const).map((column) => `${ours[column]} / ${theirs[column]}`);
    write(`| ${kind} | ${damages.length} | ${cells.join(' | ')} |\n`);
  }
}

/** Each structural character deleted, one inserted before it, and it replaced by another; without texts that are still JSON. */
function damagesOf(original: string): Damage[] {
  const damages: Damage[] = [];
  for (const [index, at] of structuralOffsets(original).entries()) {
    const [before, found, after] = [original.slice(0, at), original[at] as string, original.slice(at + 1)];
    const others = [...structural].filter((mark) => mark !== found);
    const inserted = structural[index % structural.length] as string;
    damages.push(
      { kind: `delete \`${found}\``, original, text: before + after },
      { kind: `insert \`${inserted}\``, original, text: before + inserted + found + after },
      { kind: `replace \`${found}\``, original, text: before + others[index % others.length] + after },
    );
  }
  return damages.filter(({ text }) => !isJson(text)).sort((a, b) => (a.kind < b.kind ? -1 : 1));
}

/** The offsets of brackets, commas and colons outside of strings, and of the quotes around strings. */
function structuralOffsets(text: string): number[] {
  let isInside = false;
  return Array.from(text, (_, at) => at).filter((at) => {
    const isQuote = text[at] === '"' && text[at - 1] !== '\\';
    if (isQuote) isInside = !isInside;
    return isQuote || (!isInside && structural.includes(text[at] as string));
  });
}

function measure(damages: readonly Damage[], parse: (text: string) => Outcome) {
  const wanted = new Map<string, readonly string[]>();
  let [one, problems, kept] = [0, 0, 0];
  for (const { original, text } of damages) {
    const expected = wanted.get(original) ?? parse(original).values;
    wanted.set(original, expected);
    const outcome = parse(text);
    const values = new Set(outcome.values);
    if (outcome.problems === 1) one++;
    problems += outcome.problems;
    kept += expected.filter((value) => values.has(value)).length / expected.length;
  }
  const percent = (sum: number) => `${((100 * sum) / damages.length).toFixed(0)} %`;
  return { one: percent(one), mean: (problems / damages.length).toFixed(1), kept: percent(kept) };
}

function parseOurs(text: string): Outcome {
  let problems = 0;
  const { root } = parseJson(text, () => problems++);
  const values: string[] = [];
  const visit = (node: JsonNode | undefined, path: string): void => {
    if (node?.kind === 'object') for (const { key, value } of node.members) visit(value, `${path}/${key}`);
    else if (node?.kind === 'array') for (const item of node.items) visit(item, `${path}/*`);
    else if (node?.kind === 'string' || node?.kind === 'boolean') values.push(`${path} ${node.value}`);
  };
  visit(root, '');
  return { problems, values };
}

function parseTheirs(jsonc: JsoncParser, text: string): Outcome {
  const errors: unknown[] = [];
  const root = jsonc.parseTree(text, errors, { disallowComments: true, allowTrailingComma: false });
  const values: string[] = [];
  const visit = (node: JsoncNode | undefined, path: string): void => {
    if (node?.type === 'property') visit(node.children?.[1], `${path}/${node.children?.[0]?.value}`);
    else if (node?.type === 'object') for (const property of node.children ?? []) visit(property, path);
    else if (node?.type === 'array') for (const item of node.children ?? []) visit(item, `${path}/*`);
    else if (node?.type === 'string' || node?.type === 'boolean') values.push(`${path} ${node.value}`);
  };
  visit(root, '');
  return { problems: errors.length, values };
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
