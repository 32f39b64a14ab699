import { boundIssues, describeIssues, type ErrorCode, errorCatalog, type Issue } from '../domain/errors.ts';
import type { HttpRequest, HttpResponse } from './types.ts';

/** How many seconds a caller should wait before it tries again. */
const retryAfterSeconds = 1;

/** The headers that a failure carries whatever the form of its body. */
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

/** What a problem is made of: any error of the closed list, or what a resolver answered instead of a result. */
export interface Failure {
  readonly code: ErrorCode;
  readonly message: string;
  readonly issues?: readonly Issue[];
}

/** A failure as an RFC 9457 problem, with the legacy member `success` and the gateway's own beside the standard ones. */
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

/** The answer to a method that a path does not take. */
export function methodNotAllowed(request: Pick<HttpRequest, 'id' | 'method' | 'path'>, allow: string): HttpResponse {
  const message = `${request.path} takes ${allow}, not ${request.method}.`;
  return problem({ code: 'METHOD_NOT_ALLOWED', message }, request, { allow });
}
