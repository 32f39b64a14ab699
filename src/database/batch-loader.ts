import type { Share } from '../fair-queue.ts';
import { DatabaseBusy } from './errors.ts';

/** A key that is asked for, and the result that every call with its identity gets. */
class Question<Key, Value> {
  readonly identity: string;
  readonly key: Key;
  readonly share: Share;
  readonly answer: Promise<Value | undefined>;
  resolve!: (value: Value | undefined) => void;
  reject!: (error: unknown) => void;

  constructor(identity: string, key: Key, share: Share) {
    this.identity = identity;
    this.key = key;
    this.share = share;
    this.answer = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
  }
}

/** How calls become batches. */
export interface Batching<Key, Value> {
  /** What makes two keys the same: calls with the same one share a result. */
  readonly identity: (key: Key) => string;
  /** Answers distinct keys at once, each under its identity; one that is missing has no value. */
  readonly load: (keys: readonly Key[]) => Promise<ReadonlyMap<string, Value>>;
  /** The most distinct keys in a batch; one more begins the next. */
  readonly maxKeys: number;
}

/**
 * How many batches of one kind may be under way at once. While they are, others gather, so that under load batches grow
 * and statements become fewer. More than one, so that a slow batch does not hold up those behind it.
 */
const maxUnderWay = 2;

/** How many distinct keys may wait while the database is slow; more are refused at once, so that memory stays bounded. */
const maxWaiting = 10_000;

/** How many of them one share may have while other shares wait too, and how many while none does: some places stay free. */
const maxWaitingOfShare = maxWaiting / 4;
const maxWaitingOfOnlyShare = (maxWaiting * 3) / 4;

/**
 * Makes one statement of what is asked for in one turn of the event loop, or while earlier statements are under way, by
 * whichever requests.
 *
 * This is no cache: what a call gets was read after it asked, and nothing is kept. A lone call waits for nothing but the
 * end of the turn. When a batch fails, each of its calls fails with the same error.
 *
 * @returns a function that loads a key on behalf of a share. It rejects with {@link DatabaseBusy} where too many keys wait, of
 * this share or in all.
 */
export function collapse<Key, Value>(batching: Batching<Key, Value>): (key: Key, share?: Share) => Promise<Value | undefined> {
  let waiting = new Map<string, Question<Key, Value>>();
  /** How many keys of each share wait; counted only while so many wait that it matters. */
  let waitingOf: Map<Share, number> | undefined;
  let scheduled = false;
  let underWay = 0;

  function dispatch(): void {
    scheduled = false;
    while (waiting.size > 0 && underWay < maxUnderWay) run(nextBatch());
  }

  function nextBatch(): Question<Key, Value>[] {
    const all = [...waiting];
    // A new map and not `clear`, after which a map's former content still refers to its next: once one content has become
    // old, every later one, dead or not, would become so too, and with it the requests that it holds (twice the memory).
    waiting = new Map(all.slice(batching.maxKeys));
    const batch = all.slice(0, batching.maxKeys).map(([, question]) => question);
    waitingOf = undefined;
    return batch;
  }

  function run(batch: readonly Question<Key, Value>[]): void {
    underWay += 1;
    batching
      .load(batch.map(({ key }) => key))
      .then(
        (values) => {
          for (const question of batch) question.resolve(values.get(question.identity));
        },
        (error) => {
          for (const question of batch) question.reject(error);
        },
      )
      .finally(() => {
        underWay -= 1;
        dispatch();
      });
  }

  function schedule(): void {
    if (scheduled) return;
    scheduled = true;
    setImmediate(dispatch);
  }

  /** Takes a place for one key more of a share. False where there is none. */
  function takePlace(share: Share): boolean {
    if (waiting.size < maxWaitingOfShare) return true;
    waitingOf ??= countShares(waiting.values());
    const own = waitingOf.get(share) ?? 0;
    const limit = own === waiting.size ? maxWaitingOfOnlyShare : maxWaitingOfShare;
    if (own >= limit || waiting.size >= maxWaiting) return false;
    waitingOf.set(share, own + 1);
    return true;
  }

  return (key, share) => {
    const identity = batching.identity(key);
    const known = waiting.get(identity);
    if (known) return known.answer;
    if (!takePlace(share)) return Promise.reject(new DatabaseBusy());
    const question = new Question<Key, Value>(identity, key, share);
    waiting.set(identity, question);
    schedule();
    return question.answer;
  };
}

function countShares(questions: Iterable<{ readonly share: Share }>): Map<Share, number> {
  const counts = new Map<Share, number>();
  for (const { share } of questions) counts.set(share, (counts.get(share) ?? 0) + 1);
  return counts;
}
