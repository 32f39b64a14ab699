/**
 * A parsed JSON value: every value and key with its range. Objects are lists of members rather than JavaScript objects, so
 * `__proto__` is a key like any other, and duplicate keys are kept.
 */
export type JsonNode = ObjectNode | ArrayNode | StringNode | NumberNode | BooleanNode | NullNode | ErrorNode;

/** Offsets are UTF-16 code units from 0; `end` is the first one after the text. */
export interface TextRange {
  readonly start: number;
  readonly end: number;
}

/** An object. */
export interface ObjectNode extends Spanned {
  readonly kind: 'object';
  readonly members: Member[];
  /** The cached result of {@link effectiveMembers}. */
  byKey: ReadonlyMap<string, Member> | undefined;
  /** Brackets do not match here, so members may be missing or misplaced: rules must not report missing members. */
  damaged: boolean;
}

/** An array. */
export interface ArrayNode extends Spanned {
  readonly kind: 'array';
  readonly items: JsonNode[];
  damaged: boolean;
}

/** A string, with its escapes resolved. */
export interface StringNode extends Spanned {
  readonly kind: 'string';
  readonly value: string;
}

/** A number. No rule needs its value, so only its range is kept. */
interface NumberNode extends Spanned {
  readonly kind: 'number';
}

/** `true` or `false`. */
interface BooleanNode extends Spanned {
  readonly kind: 'boolean';
  readonly value: boolean;
}

/** `null`. */
interface NullNode extends Spanned {
  readonly kind: 'null';
}

/** Text that could not be parsed as a value. A syntax problem was reported, so rules skip it. */
interface ErrorNode extends Spanned {
  readonly kind: 'error';
}

/** A key and its value. */
export interface Member {
  readonly key: string;
  readonly keyStart: number;
  readonly keyEnd: number;
  value: JsonNode;
}

interface Spanned {
  readonly start: number;
  end: number;
}

/** Creates an object node without members, for an opening bracket. */
export function createObjectNode(start: number, end = start + 1, damaged = false): ObjectNode {
  return { kind: 'object', members: [], byKey: undefined, start, end, damaged };
}

/** Shared, because an empty map takes more memory than an object node. */
const noMembers: ReadonlyMap<string, Member> = new Map();

/** The members by key; of a duplicate key the last one, as in every JSON parser. Call it only after parsing: it is cached. */
export function effectiveMembers(node: ObjectNode): ReadonlyMap<string, Member> {
  if (node.members.length === 0) return noMembers;
  if (node.byKey) return node.byKey;
  const members = new Map<string, Member>();
  for (const member of node.members) members.set(member.key, member);
  node.byKey = members;
  return members;
}

/** The value of a key; of a duplicate key the last one. Undefined when it is missing or the node is not an object. */
export function valueUnder(node: JsonNode | undefined, key: string): JsonNode | undefined {
  return node?.kind === 'object' ? effectiveMembers(node).get(key)?.value : undefined;
}
