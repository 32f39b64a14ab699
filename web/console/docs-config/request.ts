import { RawJson, withoutSpace } from '../../raw-json.ts';
import { Failure } from '../graphql/failure.ts';
import type { DocsConfigInput } from '../graphql/generated.ts';

/** How many bytes the text of a request may have, its document and options aside. */
const maxBytes = 1_048_576 - 4_096;

/** A text to check. */
export interface CheckRequest {
  readonly input: DocsConfigInput;
  /** Whether the positions of diagnostics are those of the text. */
  readonly hasPositions: boolean;
}

/**
 * How a text is sent. A long one, which as a text with escapes would be over the limit of a request, is sent as a value; then the
 * positions are those of the value as `JSON.stringify` prints it.
 */
export function requestFor(text: string): CheckRequest | Failure {
  if (sizeOf(JSON.stringify(text)) <= maxBytes) return { input: { source: text }, hasPositions: true };
  const printed = print(text);
  if (printed === undefined) {
    return new Failure('PAYLOAD_TOO_LARGE', 'The text is over the limit of a request, 1 MiB, and it is not JSON.');
  }
  const hasPositions = text.trimEnd() === printed;
  for (const json of [text, withoutSpace(text)])
    if (sizeOf(json) <= maxBytes) return { input: { value: new RawJson(json) }, hasPositions };
  return new Failure('PAYLOAD_TOO_LARGE', 'The file is over the limit of a request, 1 MiB, even without its white space.');
}

/** A JSON text as `JSON.stringify` prints its value; undefined if it is not JSON. */
function print(text: string): string | undefined {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return undefined;
  }
}

function sizeOf(text: string): number {
  return new Blob([text]).size;
}
