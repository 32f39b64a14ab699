import { effectiveMembers, type JsonNode } from '../json/syntax-tree.ts';
import { branchFor } from '../rules/run-rules.ts';
import type { DocsConfig } from './definition.ts';
import { docsConfigShape, type Field, type ObjectShape, type Shape } from './schema-model.ts';

/**
 * The document with every default filled in, and with the fields of the format only. A value that does not fit, which is left
 * only when its finding was switched off, counts as absent; null when without it there is no document.
 */
export function normalise(root: JsonNode): DocsConfig | null {
  return (valueFor(root, docsConfigShape) as DocsConfig | undefined) ?? null;
}

function valueFor(node: JsonNode, shape: Shape): unknown {
  const branch = branchFor(shape, node.kind);
  if (!branch) return undefined;
  if (node.kind === 'object' && branch.kind === 'object') {
    const members = effectiveMembers(node);
    return objectFor(branch, (key) => members.get(key)?.value);
  }
  if (node.kind === 'array' && branch.kind === 'array') {
    return node.items.map((item) => valueFor(item, branch.element)).filter((item) => item !== undefined);
  }
  if (node.kind === 'boolean') return node.value;
  if (node.kind !== 'string' || !accepts(branch, node.value)) return undefined;
  return node.value;
}

function accepts(shape: Shape, value: string): boolean {
  return shape.kind === 'enum' ? shape.values.includes(value) : shape.kind === 'string' && shape.pattern?.test(value) !== false;
}

/** Only the keys of the format are ever set, so no key of a document can reach a prototype. */
function objectFor(shape: ObjectShape, member: (key: string) => JsonNode | undefined): object | undefined {
  const result: Record<string, unknown> = {};
  for (const [key, field] of shape.fields) {
    const node = member(key);
    const value = (node && valueFor(node, field.shape)) ?? fallbackFor(field);
    if (value !== undefined) result[key] = value;
    else if (field.present) return undefined;
  }
  return result;
}

function fallbackFor({ fallback, shape }: Field): unknown {
  return typeof fallback === 'object' && shape.kind === 'object' ? objectFor(shape, () => undefined) : fallback;
}
