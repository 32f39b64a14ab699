import { stringify } from '../../raw-json.ts';
import { setClock } from './clock.ts';
import type { TypedDocument } from './document.ts';
import { Failure, type FailureCode, type Issue } from './failure.ts';
import { type ErrorCode, errorCodes } from './generated.ts';

/** How long a request may take: longer than every deadline of the gateway. */
const timeoutMs = 60_000;

/** Sends the operations of the console with one API token. */
export interface Client {
  /**
   * Executes an operation.
   *
   * @throws Failure when there is no response, or an error in it.
   */
  send<Result, Variables>(
    document: TypedDocument<Result, Variables>,
    variables: Variables,
    options?: SendOptions,
  ): Promise<Response<Result>>;
}

/** How to send an operation. */
export interface SendOptions {
  /** Ends the request; the promise is then rejected with its reason. */
  readonly signal?: AbortSignal | undefined;
  /** What identifies a change, so that it is made once. */
  readonly idempotencyKey?: string;
}

/** The data of a response. */
export interface Response<Result> {
  readonly data: Result;
  readonly requestId: string | undefined;
  /** Whether this is the stored response to an earlier request with the same key: other changes may have followed since. */
  readonly isReplayed: boolean;
}

interface Body {
  readonly data?: object | null;
  readonly errors?: readonly GraphQLProblem[];
}

interface GraphQLProblem {
  readonly message: string;
  readonly extensions: { readonly code: FailureCode; readonly issues?: readonly Issue[] };
}

/**
 * Creates a client.
 *
 * @param onUnauthenticated called when the gateway no longer accepts the API token.
 */
export function createClient(apiToken: string, onUnauthenticated?: (failure: Failure) => void): Client {
  return {
    async send<Result, Variables>(document: TypedDocument<Result, Variables>, variables: Variables, options?: SendOptions) {
      try {
        const { body, requestId, retryAfterSeconds, isReplayed } = await post(apiToken, { query: document, variables }, options);
        const [problem] = body.errors ?? [];
        if (problem) {
          const { code, issues } = problem.extensions;
          throw new Failure(code, problem.message, { requestId, retryAfterSeconds, issues });
        }
        return { data: body.data as Result, requestId, isReplayed };
      } catch (error) {
        if (error instanceof Failure && error.code === 'UNAUTHENTICATED') onUnauthenticated?.(error);
        throw error;
      }
    },
  };
}

async function post(apiToken: string, content: object, { signal, idempotencyKey }: SendOptions = {}) {
  const timeout = AbortSignal.timeout(timeoutMs);
  let requestId: string | undefined;
  try {
    const response = await fetch(new URL('graphql', document.baseURI), {
      method: 'POST',
      headers: {
        authorization: `Token ${apiToken}`,
        'content-type': 'application/json',
        accept: 'application/json',
        ...(idempotencyKey && { 'idempotency-key': idempotencyKey }),
      },
      body: stringify(content),
      credentials: 'omit',
      cache: 'no-store',
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
    });
    setClock(response.headers.get('date'));
    requestId = response.headers.get('x-request-id') ?? undefined;
    const retryAfter = Number(response.headers.get('retry-after'));
    return {
      body: readBody(await response.text(), response.status),
      requestId,
      retryAfterSeconds: retryAfter > 0 ? retryAfter : undefined,
      isReplayed: response.headers.has('idempotency-replayed'),
    };
  } catch (error) {
    if (signal?.aborted || error instanceof Failure) throw error;
    const message = timeout.aborted ? `no response within ${timeoutMs / 1_000} seconds` : (error as Error).message;
    throw new Failure('NETWORK', `There was no response from the gateway: ${message}.`, { requestId });
  }
}

function readBody(text: string, status: number): Body {
  const body = parse(text);
  if (body && (body.errors ? errorCodes.has(body.errors[0]?.extensions?.code) : body.data)) return body;
  const message = `The response, with status ${status}, is not one of the gateway: a proxy in between may have sent it.`;
  throw new Failure(status === 413 ? 'PAYLOAD_TOO_LARGE' : 'NETWORK', message);
}

function parse(text: string): Body | null | undefined {
  try {
    return JSON.parse(text) as Body | null;
  } catch {
    return undefined;
  }
}

/** The result of a mutation: a payload or one of the expected errors. */
type MutationResult = { readonly __typename: string; readonly code?: ErrorCode; readonly message?: string };

/**
 * The payload of a mutation's result.
 *
 * @throws Failure when the result is an error.
 */
export function payloadOf<Result extends MutationResult>(
  result: Result | null,
  requestId: string | undefined,
): Exclude<Result, { readonly code: ErrorCode }> {
  if (!result) throw new Failure('INTERNAL', 'The response has no result.', { requestId });
  if (!result.code) return result as Exclude<Result, { readonly code: ErrorCode }>;
  const { issues } = result as { issues?: readonly Issue[] };
  throw new Failure(result.code, result.message ?? '', { requestId, issues });
}
