import { Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { describeProgress, openProgress } from '../../src/commands/output.ts';

test.each([
  [{ count: 0, fraction: 0 }, 0, '[                        ] 0 %  0 lines  0/s'],
  [{ count: 1_500, fraction: 0.25 }, 10, '[######                  ] 25 %  1,500 lines  150/s  0:30 left'],
  [{ count: 9, fraction: 0.001 }, 10, '[                        ] 0 %  9 lines  1/s  2:46:30 left'],
  [{ count: 9, fraction: 1 }, 3, '[########################] 100 %  9 lines  3/s  0:00 left'],
  [{ count: 12_000, fraction: undefined }, 4, '12,000 lines  3,000/s'],
])('%j after %d s', (state, seconds, text) => {
  expect(describeProgress(state, 'lines', seconds)).toBe(text);
});

test.each([
  [true, '\r\u001b[2K5 groups  '],
  [false, ''],
])('on a terminal (%s) one line is rewritten, and removed', (isTTY, begin) => {
  let written = '';
  const sink = new Writable({
    write(chunk, _, done) {
      written += chunk;
      done();
    },
  });
  const stream = Object.assign(sink, { isTTY, columns: 40 });
  const progress = openProgress(stream, 'groups');
  progress.update({ count: 5, fraction: undefined });
  expect(written.startsWith(begin) && written.length <= (isTTY ? 45 : 0)).toBe(true);
  progress.clear();
  expect(written.endsWith(isTTY ? '/s\r\u001b[2K' : '')).toBe(true);
});
