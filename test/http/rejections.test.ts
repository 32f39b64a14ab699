import { expect, test } from 'vitest';
import { httpLimits } from '../../src/http/limits.ts';
import { Rejections } from '../../src/http/rejections.ts';

const turn = () => new Promise<void>((resolve) => void setImmediate(resolve));

/** Adds rejections and returns the numbers of those that were sent, in order. */
function addTo(rejections: Rejections, count: number): number[] {
  const sent: number[] = [];
  for (let i = 0; i < count; i += 1) rejections.add(() => void sent.push(i));
  return sent;
}

const { maxPostponedRejections } = httpLimits;

test('a rejection is sent in the next turn of the event loop if no connection was accepted', async () => {
  const sent = addTo(new Rejections(), 1);
  expect(sent).toEqual([]);
  await turn();
  expect(sent).toEqual([0]);
});

test('rejections wait as long as each turn accepts a connection, and are sent in order afterwards', async () => {
  const rejections = new Rejections();
  const sent = addTo(rejections, 20);
  for (let i = 0; i < 5; i += 1) {
    rejections.connectionAccepted();
    await turn();
  }
  expect(sent).toEqual([]);
  while (sent.length < 20) await turn();
  expect(sent).toEqual(Array.from({ length: 20 }, (_, index) => index));
});

test('rejections are sent although connections keep arriving', async () => {
  const rejections = new Rejections();
  const sent = addTo(rejections, 3);
  while (sent.length < 3) {
    rejections.connectionAccepted();
    await turn();
  }
  expect(sent).toEqual([0, 1, 2]);
});

test('when too many wait, further ones are sent at once', () => {
  const rejections = new Rejections();
  rejections.connectionAccepted();
  const sent = addTo(rejections, maxPostponedRejections + 2);
  expect(sent).toEqual([maxPostponedRejections, maxPostponedRejections + 1]);
});
