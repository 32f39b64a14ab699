/** The claims of a JWT as JSON to read; its signature is not checked. */
export function decodeClaims(token: string): string {
  const [, payload = ''] = token.split('.');
  const binary = atob(payload.replaceAll('-', '+').replaceAll('_', '/'));
  const text = new TextDecoder().decode(Uint8Array.from(binary, (character) => character.charCodeAt(0)));
  return JSON.stringify(JSON.parse(text), null, 2);
}
