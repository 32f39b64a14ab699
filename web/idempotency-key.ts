/** A new Idempotency-Key. Not `crypto.randomUUID`, which browsers have only over HTTPS and on the own machine. */
export function createIdempotencyKey(): string {
  return [...crypto.getRandomValues(new Uint32Array(4))].map((part) => part.toString(36)).join('-');
}
