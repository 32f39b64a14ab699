import { isRefusal, type Reply } from '../client.ts';

/**
 * The outcome of a request. `4xx` is a status with a code and a message; `errors` is a 200 whose `errors` have them; `closed` is
 * a connection that the gateway closes without a response, `held` one that the drill closes; `unclear` lacks code or message.
 */
export type Outcome = '2xx' | '4xx' | '503' | 'errors' | 'closed' | 'held' | 'unclear' | '5xx';

/** How a request ended. */
export interface Result {
  readonly outcome: Outcome;
  readonly code: string;
  readonly text: string;
  readonly milliseconds: number;
}

/** The length of the shortest useful message. */
const shortestAdvice = 20;

/** Classifies a response. Status 0 is a connection that was closed without one. */
export function resultOf(reply: Reply): Result {
  const { status, json, milliseconds } = reply;
  const error = json?.errors?.[0];
  const code: string = json?.code ?? error?.extensions?.code ?? '';
  const text: string = json?.detail ?? error?.message ?? reply.text.slice(0, 200);
  const isClear = code !== '' && text.length >= shortestAdvice;
  const result = (outcome: Outcome): Result => ({ outcome, code, text, milliseconds });
  if (status === 0) return result('closed');
  if (status >= 500) return result(isRefusal(reply) && isClear ? '503' : '5xx');
  if (status < 300) return result(error === undefined ? '2xx' : isClear ? 'errors' : 'unclear');
  return result(isClear ? '4xx' : 'unclear');
}
