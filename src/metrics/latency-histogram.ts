/** The upper bound of the first bucket, in milliseconds, and how much greater each next bound is. */
const firstBoundMs = 0.25;
const growth = 1.25;

/** The number of buckets. The last one has no upper bound; it begins at about 9 seconds, when requests soon time out. */
export const bucketCount = 49;

/** The bucket of a latency. */
export function bucketOf(latencyMs: number): number {
  if (!(latencyMs > firstBoundMs)) return 0;
  return Math.min(bucketCount - 1, Math.ceil(Math.log(latencyMs / firstBoundMs) / Math.log(growth)));
}

/**
 * A quantile of the latencies that were counted, in milliseconds, with an error of at most a quarter: between the bounds of its
 * bucket latencies are assumed to be evenly distributed. `undefined` if nothing was counted.
 */
export function quantileOf(counts: ArrayLike<number>, quantile: number): number | undefined {
  let total = 0;
  for (let bucket = 0; bucket < bucketCount; bucket += 1) total += counts[bucket] ?? 0;
  if (total === 0) return undefined;
  const rank = Math.max(1, Math.ceil(quantile * total));
  let before = 0;
  for (let bucket = 0; ; bucket += 1) {
    const count = counts[bucket] ?? 0;
    if (before + count >= rank) {
      const from = bucket === 0 ? 0 : firstBoundMs * growth ** (bucket - 1);
      return from + (firstBoundMs * growth ** bucket - from) * ((rank - before) / count);
    }
    before += count;
  }
}
