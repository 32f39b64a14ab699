import { mediaTypes } from '../http/media-types.ts';
import { paths } from '../http/paths.ts';

/** A request of an example. */
export interface ExampleRequest {
  readonly method: string;
  /** The shell variable with the API token; `API_TOKEN` by default, `null` for none. */
  readonly token?: string | null;
  /** Sent as the query string instead of a body. */
  readonly query?: Readonly<Record<string, string>>;
  /** Text as it is, anything else as JSON. Shell variables in double quotes are not expanded, {@link shellVariable} is. */
  readonly body?: unknown;
  /** The `Content-Type` header; `application/json` by default where there is a body. */
  readonly contentType?: string;
  /** The `Idempotency-Key` header. */
  readonly idempotencyKey?: string;
  /** The `If-Match` header. */
  readonly ifMatch?: string;
  /** A shell command whose output is the body. */
  readonly bodyFrom?: string;
  /** A header whose value is a shell command's output. */
  readonly headerFrom?: readonly [name: string, command: string];
}

/** A value in an example's body that the caller has in a shell variable. */
export const shellVariable = (name: string): string => `$${name}`;

/**
 * The command that sends a request, in POSIX shell. The variables `GATEWAY` (the base URL) and those of the API tokens must be
 * set.
 *
 * @example curl -sS -X GET "$GATEWAY/api/user" -H "Authorization: Token $API_TOKEN" …
 */
export function curl(request: ExampleRequest): string {
  const { method, token = 'API_TOKEN', query, body, contentType, idempotencyKey, ifMatch, bodyFrom, headerFrom } = request;
  const parts = [`curl -sS ${query ? '-G' : `-X ${method}`} "$GATEWAY${paths.user}"`];
  if (token !== null) parts.push(`-H "Authorization: Token $${token}"`);
  for (const [name, value] of Object.entries(query ?? {})) parts.push(`--data-urlencode ${quote(`${name}=${value}`)}`);
  if (body !== undefined || bodyFrom !== undefined) {
    // Without the option curl declares a form.
    if (contentType !== mediaTypes.form) parts.push(`-H 'Content-Type: ${contentType ?? mediaTypes.json}'`);
  }
  if (idempotencyKey !== undefined) parts.push(`-H ${quote(`Idempotency-Key: ${idempotencyKey}`)}`);
  if (ifMatch !== undefined) parts.push(`-H ${quote(`If-Match: ${ifMatch}`)}`);
  if (headerFrom) parts.push(`-H "${headerFrom[0]}: $(${headerFrom[1]})"`);
  if (body !== undefined) parts.push(`-d ${quote(typeof body === 'string' ? body : JSON.stringify(body))}`);
  if (bodyFrom !== undefined) parts.push('--data-binary @-');
  const command = parts.join(' \\\n  ');
  return bodyFrom === undefined ? command : `${bodyFrom} | ${command}`;
}

/** Text as one word of the shell; a {@link shellVariable} in it is expanded. */
function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''").replace(/\$[A-Z_]+/g, (variable) => `'"${variable}"'`)}'`;
}
