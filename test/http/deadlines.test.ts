import { expect, onTestFinished, test } from 'vitest';
import { Deadlines, type Expiring } from '../../src/http/deadlines.ts';

const item = (expire = () => {}): Expiring => ({ expiresAtMs: 0, slot: -1, expire });

function createDeadlines(): Deadlines {
  const deadlines = new Deadlines();
  onTestFinished(() => deadlines.close());
  return deadlines;
}

test('the place of one that ended, or expired, is used again', async () => {
  const deadlines = createDeadlines();
  const [first, second] = [item(), item()];
  deadlines.start(first, 60_000);
  deadlines.start(second, 60_000);
  deadlines.end(first);
  deadlines.end(first); // does nothing
  await new Promise<void>((resolve) => deadlines.start(item(resolve), 0));
  const next = [item(), item()];
  for (const each of next) deadlines.start(each, 60_000);
  expect([second, ...next].map(({ slot }) => slot)).toEqual([1, 0, 2]);
});

test('one that is restarted expires later, and one that ended does not expire', async () => {
  const deadlines = createDeadlines();
  const expired: string[] = [];
  const [ended, restarted] = [item(() => expired.push('ended')), item(() => expired.push('restarted'))];
  deadlines.start(ended, 0);
  deadlines.start(restarted, 0);
  deadlines.end(ended);
  deadlines.restart(restarted, 60_000);
  await new Promise<void>((resolve) => deadlines.start(item(resolve), 0));
  expect(expired).toEqual([]);
});
