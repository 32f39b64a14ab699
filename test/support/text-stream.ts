import { Writable } from 'node:stream';

/** A stream that keeps what is written to it. */
export function collect(): { readonly stream: Writable; text(): string } {
  let text = '';
  const stream = new Writable({
    write(chunk, _, done) {
      text += String(chunk);
      done();
    },
  });
  return { stream, text: () => text };
}
