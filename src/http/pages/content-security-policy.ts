/** What a page with a script needs. */
export interface ScriptedPage {
  /** Permits the style elements with this nonce, for components that create their styles in the browser. */
  readonly styleNonce?: string | undefined;
}

/**
 * The Content-Security-Policy of a page: only files of the gateway itself, nothing inline, no embedding in other pages, and forms are not
 * sent. Only a page with a script may run one, send requests and load fonts.
 */
export function contentSecurityPolicy(scripted?: ScriptedPage): string {
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
