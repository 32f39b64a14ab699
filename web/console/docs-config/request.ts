import { Failure } from '../graphql/failure.ts';
import type { DocsConfigInput } from '../graphql/generated.ts';

/** The request for a text; a failure if the gateway would refuse it. */
export function requestFor(text: string): DocsConfigInput | Failure {
  if (new Blob([text]).size <= 256 * 1_024) return { source: text };
  return new Failure('INVALID_INPUT', 'The file has more than 256 KiB. Check it with the command docs-config.');
}
