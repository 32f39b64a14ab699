import type { ExecutionResult } from 'graphql';
import type { GraphQLContext } from '../schema/context.ts';

/** From this size on, as the meter counts it, a response is serialized in parts: far more than most responses have. */
const largeResultBytes = 1_048_576;

/**
 * Whether the result of a request is to be serialized in parts. One that is stored for an Idempotency-Key is not: it needs the
 * text.
 */
export const isLarge = ({ meter, turn }: Pick<GraphQLContext, 'meter' | 'turn'>): boolean =>
  meter.size >= largeResultBytes && !turn;

/** Where the body of a large result is put. */
export interface LargeBody {
  bytes?: Buffer;
}

/**
 * The result with a function that Yoga calls to serialize it: it puts the body of a large one into `body`, and gives Yoga an
 * empty text.
 */
export function serializedTo(body: LargeBody, result: ExecutionResult, context: GraphQLContext): ExecutionResult {
  if (!result.data || !isLarge(context)) return result; // a rejection is small, whatever was measured before
  const stringify = (finished: object): string => {
    body.bytes = serializeInParts(finished, context.meter.size);
    return '';
  };
  return { ...result, stringify } as ExecutionResult;
}

/** How many characters are collected before they are copied into the buffer. */
const partCharacters = 65_536;

/** How deep the parts of a result may be nested: enough to reach the items of nested lists, and their fields. */
const maxPartDepth = 12;

/**
 * Serializes a result to the same JSON as `JSON.stringify`, outside of the JavaScript heap. There, long texts remain until the
 * next full garbage collection, before which the heap may grow by hundreds of megabytes; buffers are freed much sooner.
 *
 * @param expectedBytes about how long the JSON is. A wrong expectation only costs time.
 */
export function serializeInParts(result: object, expectedBytes: number): Buffer {
  const writer = new PartWriter(expectedBytes + partCharacters);
  writeValue(result, maxPartDepth, writer);
  return writer.end();
}

function writeValue(value: unknown, depth: number, writer: PartWriter): void {
  if (depth === 0 || !isContainer(value)) writer.add(JSON.stringify(value) ?? 'null');
  else if (Array.isArray(value)) writeList(value, depth - 1, writer);
  else writeObject(value, depth - 1, writer);
}

function writeList(items: readonly unknown[], depth: number, writer: PartWriter): void {
  let separator = '[';
  for (const item of items) {
    writer.add(separator);
    writeValue(item, depth, writer);
    separator = ',';
  }
  writer.add(separator === '[' ? '[]' : ']');
}

function writeObject(object: object, depth: number, writer: PartWriter): void {
  let separator = '{';
  for (const [name, member] of Object.entries(object)) {
    if (!isJson(member)) continue;
    writer.add(`${separator}${JSON.stringify(name)}:`);
    writeValue(member, depth, writer);
    separator = ',';
  }
  writer.add(separator === '{' ? '{}' : '}');
}

/** Whether a value has members of its own, rather than a JSON form such as that of a `Date`. */
const isContainer = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && typeof (value as { toJSON?: unknown }).toJSON !== 'function';

/** Whether a member of an object appears in JSON. */
const isJson = (value: unknown): boolean => value !== undefined && typeof value !== 'function' && typeof value !== 'symbol';

/** Collects texts in one buffer. */
class PartWriter {
  private buffer: Buffer;
  private length = 0;
  private part = '';

  constructor(bytes: number) {
    this.buffer = Buffer.allocUnsafeSlow(bytes);
  }

  add(text: string): void {
    this.part += text;
    if (this.part.length >= partCharacters) this.flush();
  }

  /** What was added, in UTF-8. */
  end(): Buffer {
    this.flush();
    return this.buffer.subarray(0, this.length);
  }

  private flush(): void {
    const bytes = Buffer.byteLength(this.part);
    if (this.length + bytes > this.buffer.length) {
      const larger = Buffer.allocUnsafeSlow(2 * (this.length + bytes));
      this.buffer.copy(larger, 0, 0, this.length);
      this.buffer = larger;
    }
    this.length += this.buffer.write(this.part, this.length);
    this.part = '';
  }
}
