import { boundIssues, describeIssues, type ErrorCode, errorCatalog, type Issue } from '../domain/errors.ts';
import type { HttpRequest, HttpResponse } from './types.ts';

/** The `Retry-After` header, in seconds. */
const retryAfterSeconds = 1;

/** The headers of a failed response, whatever the format of its body. */
export function failureHeaders(code: ErrorCode): Record<string, string> {
  switch (code) {
    case 'UNAUTHENTICATED':
      return { 'www-authenticate': 'Token' };
    case 'RATE_LIMITED':
    case 'UNAVAILABLE':
      return { 'retry-after': String(retryAfterSeconds) };
    default:
      return {};
  }
}

/** A failure to render: a `GatewayError`, or an error that a resolver returned. */
export interface Failure {
  readonly code: ErrorCode;
  readonly message: string;
  readonly issues?: readonly Issue[];
}

/** A failure as an RFC 9457 problem, with the extension members `success`, `code`, `issues` and `request_id`. */
export function problem(failure: Failure, request: Pick<HttpRequest, 'id'>, headers: Record<string, string> = {}): HttpResponse {
  const { code } = failure;
  const issues = boundIssues(failure.issues ?? []);
  const { status, title } = errorCatalog[code];
  const detail = issues.length > 0 ? describeIssues(issues) : failure.message;
  const type = `/docs/errors/${code}`;
  return {
    status,
    headers: { 'content-type': 'application/problem+json', ...failureHeaders(code), ...headers },
    body: JSON.stringify({ success: 0, type, title, status, detail, code, issues, request_id: request.id }),
  };
}

/** The response to a method that a path does not support. */
export function methodNotAllowed(request: Pick<HttpRequest, 'id' | 'method' | 'path'>, allow: string): HttpResponse {
  const message = `${request.method} is not supported; allowed: ${allow}.`;
  return problem({ code: 'METHOD_NOT_ALLOWED', message }, request, { allow });
}
