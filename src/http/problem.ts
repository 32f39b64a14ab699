import { type ErrorCatalogEntry, type ErrorCode, errorCatalog } from '../error-catalog.ts';
import { boundIssues, describeIssues, GatewayError, type Issue } from '../errors.ts';
import { mediaTypes } from './media-types.ts';
import { errorCodePath } from './paths.ts';
import type { HttpRequest, HttpResponse } from './types.ts';

/** A failure to render: a `GatewayError`, or what a route has made of one. */
export interface Failure {
  readonly code: ErrorCode;
  readonly message: string;
  readonly issues?: readonly Issue[];
  /** The value of the `Allow` header. */
  readonly allow?: string | undefined;
  /** The value of the `Retry-After` header; that of the code by default. */
  readonly retryAfterSeconds?: number | undefined;
}

/** The route does not support the method. */
export class MethodNotAllowed extends GatewayError {
  readonly allow: string;

  constructor(method: string, allowed: readonly string[]) {
    const allow = allowed.join(', ');
    super('METHOD_NOT_ALLOWED', `${method} is not supported; allowed: ${allow}.`);
    this.allow = allow;
  }
}

/** The headers of the response to a failure, regardless of the format of its body. */
export function headersOf({ code, allow, retryAfterSeconds }: Omit<Failure, 'message'>): Record<string, string> {
  const { authenticationScheme, retryAfterSeconds: usualSeconds }: ErrorCatalogEntry = errorCatalog[code];
  const seconds = retryAfterSeconds ?? usualSeconds;
  return {
    ...(authenticationScheme !== undefined && { 'www-authenticate': authenticationScheme }),
    ...(allow !== undefined && { allow }),
    ...(seconds !== undefined && { 'retry-after': String(seconds) }),
  };
}

/** A failure as an RFC 9457 problem, with the extension members `success`, `code`, `issues` and `request_id`. */
export function problem(failure: Failure, request: Pick<HttpRequest, 'id'>): HttpResponse {
  const { code } = failure;
  const issues = boundIssues(failure.issues ?? []);
  const { status, title } = errorCatalog[code];
  const detail = issues.length > 0 ? describeIssues(issues) : failure.message;
  const type = errorCodePath(code);
  return {
    status,
    headers: { 'content-type': mediaTypes.problem, ...headersOf(failure) },
    body: JSON.stringify({ success: 0, type, title, status, detail, code, issues, request_id: request.id }),
  };
}
