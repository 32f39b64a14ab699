/**
 * A JSON document as it stands in its text: every value and key with its range. Objects are lists of members, never JavaScript
 * objects, so a key such as `__proto__` is a key like any other, and one given twice is there twice.
 */
export type JsonNode = ObjectNode | ArrayNode | StringNode | NumberNode | BooleanNode | NullNode | UnreadNode;

/** Offsets are UTF-16 code units from 0; `end` is the first one after the text. */
export interface TextRange {
  readonly start: number;
  readonly end: number;
}

/** An object. */
export interface ObjectNode extends Spanned {
  readonly kind: 'object';
  readonly members: Member[];
  /** What {@link lastMembers} made of them. */
  byKey?: ReadonlyMap<string, Member>;
  /** Brackets around here do not match, so a member may be missing here or belong elsewhere: say nothing about absences. */
  damaged: boolean;
}

/** An array. */
export interface ArrayNode extends Spanned {
  readonly kind: 'array';
  readonly items: JsonNode[];
  damaged: boolean;
}

/** A string, its escapes resolved. */
export interface StringNode extends Spanned {
  readonly kind: 'string';
  readonly value: string;
}

/** A number; its text is what counts, no rule needs its value. */
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

/** A place where a value belongs and nothing could be understood; a syntax problem has been reported, no rule adds to it. */
interface UnreadNode extends Spanned {
  readonly kind: 'unread';
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

/** The members that count: of a key given twice the last one, as every JSON parser has it. To be asked when all were read. */
export function lastMembers(node: ObjectNode): ReadonlyMap<string, Member> {
  if (node.byKey) return node.byKey;
  const members = new Map<string, Member>();
  for (const member of node.members) members.set(member.key, member);
  node.byKey = members;
  return members;
}

/** The value under a key, the last one when it is given twice. */
export function valueUnder(node: JsonNode | undefined, key: string): JsonNode | undefined {
  return node?.kind === 'object' ? lastMembers(node).get(key)?.value : undefined;
}
