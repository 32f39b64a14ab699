import { type DocumentNode, getOperationAST, type OperationDefinitionNode, OperationTypeNode } from 'graphql';
import type { Caller } from '../../caller.ts';
import { heavyWork } from '../../concurrency/heavy-work.ts';
import { type ErrorCode, errorCatalog } from '../../error-catalog.ts';
import { GatewayError } from '../../errors.ts';
import type { HttpResponse } from '../../http/types.ts';
import { longDocumentLength } from '../limits.ts';
import { parseDocument } from './documents.ts';
import type { GraphQLParams } from './fast-path.ts';
import { hasPayload } from './response.ts';
import { executedFieldsOf } from './root-fields.ts';

/** A request's operation, which is a mutation. Its document is parsed, but not validated. */
export interface KeyedMutation {
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
}

/**
 * Finds the mutation that a request would execute; none, if its document has errors or only asks for `__typename`.
 *
 * @throws GatewayError `INVALID_INPUT` when the operation has several mutations: a response with several outcomes, of which some
 *   are kept and others are not, could not be sent again, and their locks would be held for long. `UNAVAILABLE` when too much
 *   heavy work waits.
 */
export async function findMutation({ query, operationName }: GraphQLParams, caller: Caller): Promise<KeyedMutation | undefined> {
  if (typeof query !== 'string') return undefined;
  if (query.length > longDocumentLength) await heavyWork.enter(caller);
  const document = parseOrNothing(query);
  const operation = document && getOperationAST(document, typeof operationName === 'string' ? operationName : undefined);
  if (!document || operation?.operation !== OperationTypeNode.MUTATION) return undefined;
  const fields = executedFieldsOf(document, operation);
  if (fields.length === 0) return undefined;
  if (fields.length === 1) return { document, operation };
  throw new GatewayError(
    'INVALID_INPUT',
    'A request with an Idempotency-Key can have one mutation. Send one request with a key of its own for each, or use ' +
      'getOrCreateUserGroups for many groups.',
  );
}

/** The document; undefined if it cannot be parsed. Its execution then reports why. */
function parseOrNothing(source: string): DocumentNode | undefined {
  try {
    return parseDocument(source);
  } catch {
    return undefined;
  }
}

/**
 * Checks that a response has all of its result: it would lack the same part each time that it is sent.
 *
 * @param codes the codes of the errors that the response reports.
 * @returns whether it has a result.
 * @throws GatewayError the failure, after which nothing is changed.
 */
export function hasWholeResult(response: HttpResponse, codes: ReadonlySet<ErrorCode>): boolean {
  const { data, errors } = JSON.parse(response.body) as {
    data?: Readonly<Record<string, unknown>> | null;
    errors?: { message: string; extensions?: { code?: string } }[];
  };
  const temporary = [...codes].find((code) => errorCatalog[code].status >= 500 || errorCatalog[code].status === 429);
  if (temporary !== undefined) {
    const message = errors?.find(({ extensions }) => extensions?.code === temporary)?.message ?? '';
    // Without what it says of changes: this one is undone.
    const [reason = ''] = message.split(/\. |\.$/);
    const failure = hasPayload(data) ? `A part of the result could not be read: ${reason}` : reason;
    throw new GatewayError(temporary, `${failure}. Nothing was changed. Send the same request again.`);
  }
  return hasPayload(data);
}
