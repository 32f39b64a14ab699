/**
 * A parsed JSON value: every value and key with its range. Objects are lists of members rather than JavaScript objects, so
 * `__proto__` is a key like any other, and duplicate keys are kept.
 */
export type JsonNode = ObjectNode | ArrayNode | StringNode | BooleanNode | PlainNode;

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
  /** See {@link isDamaged}: rules must not report missing members. */
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

/** `true` or `false`. */
interface BooleanNode extends Spanned {
  readonly kind: 'boolean';
  readonly value: boolean;
}

/**
 * A number, of which no rule needs the value; `null`; or text that could not be parsed as a value (`error`): a syntax problem was
 * reported, so rules skip it.
 */
interface PlainNode extends Spanned {
  readonly kind: 'number' | 'null' | 'error';
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

/**
 * The members by key; of a duplicate key the last one, as in every JSON parser. None if the node is not an object. Call it only
 * after parsing: it is cached.
 */
export function effectiveMembers(node: JsonNode): ReadonlyMap<string, Member> {
  if (node.kind !== 'object' || node.members.length === 0) return noMembers;
  if (node.byKey) return node.byKey;
  const members = new Map<string, Member>();
  for (const member of node.members) members.set(member.key, member);
  node.byKey = members;
  return members;
}

/** The value of a key; of a duplicate key the last one. Undefined when it is missing or the node is not an object. */
export function valueUnder(node: JsonNode | undefined, key: string): JsonNode | undefined {
  return node && effectiveMembers(node).get(key)?.value;
}

/** Whether brackets do not match in an object or array, so that something in it may be missing or misplaced. */
export function isDamaged(node: JsonNode): boolean {
  return (node.kind === 'object' || node.kind === 'array') && node.damaged;
}
