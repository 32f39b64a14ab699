import { effectiveMembers, type JsonNode } from '../json/syntax-tree.ts';
import type { DocsConfig } from './definition.ts';
import { branchFor, docsConfigModel, type Field, type ObjectModel, type SchemaModel } from './schema-model.ts';

/**
 * Fills in every default and drops fields that are not part of the schema. A value that does not match, which is possible only
 * when its diagnostic was turned off, counts as missing. Null when a required value is missing.
 */
export function normalize(root: JsonNode): DocsConfig | null {
  return (normalizeValue(root, docsConfigModel) as DocsConfig | undefined) ?? null;
}

function normalizeValue(node: JsonNode, model: SchemaModel): unknown {
  const branch = branchFor(model, node.kind);
  if (!branch) return undefined;
  if (node.kind === 'object' && branch.kind === 'object') {
    const members = effectiveMembers(node);
    return normalizeObject(branch, (key) => members.get(key)?.value);
  }
  if (node.kind === 'array' && branch.kind === 'array') {
    return node.items.map((item) => normalizeValue(item, branch.element)).filter((item) => item !== undefined);
  }
  if (node.kind === 'boolean') return node.value;
  if (node.kind !== 'string' || !accepts(branch, node.value)) return undefined;
  return node.value;
}

function accepts(model: SchemaModel, value: string): boolean {
  return model.kind === 'enum' ? model.values.includes(value) : model.kind === 'string' && model.pattern?.test(value) !== false;
}

/** Sets only keys of the schema, so no key of a document can reach a prototype. */
function normalizeObject(model: ObjectModel, member: (key: string) => JsonNode | undefined): object | undefined {
  const result: Record<string, unknown> = {};
  for (const [key, field] of model.fields) {
    const node = member(key);
    const value = (node && normalizeValue(node, field.model)) ?? createFallback(field);
    if (value !== undefined) result[key] = value;
    else if (field.present) return undefined;
  }
  return result;
}

function createFallback({ fallback, model }: Field): unknown {
  return typeof fallback === 'object' && model.kind === 'object' ? normalizeObject(model, () => undefined) : fallback;
}
