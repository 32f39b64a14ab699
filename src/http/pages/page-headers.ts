import { inUtf8, mediaTypes } from '../media-types.ts';

/** What a page with a script needs. */
export interface ScriptedPage {
  /** Permits the style elements with this nonce, for components that create their styles in the browser. */
  readonly styleNonce?: string | undefined;
}

/**
 * The Content-Security-Policy of a page: only files of the gateway itself, nothing inline, no embedding in other pages, and forms
 * are not sent. Only a page with a script may run one, send requests and load fonts.
 */
function contentSecurityPolicy(scripted?: ScriptedPage): string {
  const styles = scripted?.styleNonce === undefined ? "'self'" : `'self' 'nonce-${scripted.styleNonce}'`;
  const directives = [
    "default-src 'none'",
    `style-src ${styles}`,
    "img-src 'self'",
    ...(scripted ? ["script-src 'self'", "connect-src 'self'", "font-src 'self'"] : []),
    "base-uri 'self'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ];
  return directives.join('; ');
}

/**
 * The headers of a page: its Content-Security-Policy; no address of a page in requests to others; no access to its window for
 * pages of other origins that open it or that it opens; and no use of it as a part of their pages.
 */
export function pageHeaders(scripted?: ScriptedPage): Record<string, string> {
  return {
    'content-type': inUtf8(mediaTypes.html),
    'content-security-policy': contentSecurityPolicy(scripted),
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
  };
}
