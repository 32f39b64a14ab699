import { type Reply as CompleteReply, type RequestOptions as Options, sendUnchecked } from '../../test/support/send-unchecked.ts';
import type { Outcome } from './hostile-scenario.ts';

/** The response to a request, or how it ended without one. */
export interface Reply {
  /** `unclear` is a 4xx, or a 200 with errors, without a code or without a useful message. */
  readonly outcome: Outcome | '5xx' | '3xx' | 'unclear' | 'timeout';
  /** 0 without a response. */
  readonly status: number;
  /** The error code of the problem or the first error. */
  readonly code: string;
  /** The problem's detail or the first error's message; without a response, how the connection ended. */
  readonly text: string;
  readonly milliseconds: number;
  /** Whether the request had a credential, as far as the drill knows: one that is sent as bytes counts as one without. */
  readonly isAuthorized: boolean;
}

/** A request that an HTTP client can send; by default a `POST` to `/graphql`. */
export interface RequestOptions extends Pick<Options, 'token' | 'headers' | 'body'> {
  readonly method?: string;
  readonly path?: string;
}

/** The parts of a reply that there are without a response. */
export const withoutReply = { status: 0, code: '', isAuthorized: false } as const;

/** Sends a request on a new connection. Never rejects. */
export async function sendRequest(port: number, options: RequestOptions, signal: AbortSignal): Promise<Reply> {
  const { method = 'POST', path = '/graphql', ...rest } = options;
  const began = performance.now();
  const received = await sendUnchecked(`http://127.0.0.1:${port}`, method, path, { ...rest, agent: false, signal }).catch(
    (error: Error) => error,
  );
  const milliseconds = performance.now() - began;
  const isAuthorized = options.token !== undefined;
  if (!(received instanceof Error)) return { ...readReply(received, milliseconds), isAuthorized };
  const outcome = signal.aborted ? 'timeout' : 'closed';
  return { ...withoutReply, outcome, text: received.message, milliseconds, isAuthorized };
}

/** Classifies a response to a request without a credential. */
export function readReply({ status, headers, text: body, json }: CompleteReply, milliseconds: number): Reply {
  const { code = '', text, hasErrors } = readFailure((json ?? {}) as Failure, body);
  // Only one that says so, and when to try again, is a refusal because of overload.
  const isRefusal =
    status === 503 && code === 'UNAVAILABLE' && text.length >= shortestAdvice && Number(headers.get('retry-after')) > 0;
  const outcome = isRefusal ? '503' : outcomeOf(status, code, text, hasErrors);
  return { outcome, status, code, text, milliseconds, isAuthorized: false };
}

/** The length of the shortest useful message. */
const shortestAdvice = 20;

function outcomeOf(status: number, code: string, text: string, hasErrors: boolean): Reply['outcome'] {
  if (status >= 500 || status < 200) return '5xx';
  if (status < 300) return hasErrors ? (code ? 'errors' : 'unclear') : '2xx';
  if (status < 400) return '3xx';
  // An error without a useful message counts as a failure.
  return code && text.length >= shortestAdvice ? '4xx' : 'unclear';
}

interface Failure {
  readonly code?: string;
  readonly detail?: string;
  readonly errors?: readonly { readonly message?: string; readonly extensions?: { readonly code?: string } }[];
}

function readFailure({ code, detail, errors }: Failure, body: string) {
  const [first] = errors ?? [];
  return {
    code: code ?? first?.extensions?.code,
    text: detail ?? first?.message ?? body.slice(0, 200),
    hasErrors: errors !== undefined,
  };
}
