/**
 * The nonce of the Content-Security-Policy under the name by which GraphiQL's dialogs find it for the styles that they create.
 */
const nonce = document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content;
Object.assign(globalThis, { __webpack_nonce__: nonce });

export {};
