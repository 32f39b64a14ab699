import { setNonce } from 'get-nonce';

/** Gives the styles that GraphiQL's dialogs create the nonce of the Content-Security-Policy. */
export function permitDialogStyles(): void {
  const nonce = document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content;
  if (nonce) setNonce(nonce);
}
