/** Longer than any name. Comparing takes quadratic time in the length. */
const maxWordLength = 64;

/**
 * The candidate that a mistyped word most likely means; undefined when none is close, or the word is longer than 64 characters.
 *
 * @param mostTypos how many letters may be wrong; one in a short word, one per three characters in a long one, by default.
 */
export function didYouMean(
  word: string,
  candidates: Iterable<string>,
  mostTypos = Math.max(1, Math.floor(fold(word).length / 3)),
): string | undefined {
  if (word.length > maxWordLength) return undefined;
  const plain = fold(word);
  let best: string | undefined;
  let limit = mostTypos + 1;
  for (const candidate of candidates) {
    if (candidate.length > 2 * maxWordLength) continue;
    const distance = computeEditDistance(plain, fold(candidate), limit);
    if (distance < limit) {
      best = candidate;
      limit = distance;
    }
  }
  return best;
}

/** Ignores case and the separators between words. */
function fold(word: string): string {
  return word.toLowerCase().replace(/[\s_-]/g, '');
}

/** The number of insertions, deletions, replacements and swaps between two words, at most `limit`. */
function computeEditDistance(from: string, to: string, limit: number): number {
  if (Math.abs(from.length - to.length) >= limit) return limit;
  let before: number[] = [];
  let leastBefore = 0;
  let above = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let row = 1; row <= from.length; row++) {
    const current = [row];
    let least = row;
    for (let column = 1; column <= to.length; column++) {
      const same = from[row - 1] === to[column - 1];
      let cost = Math.min((above[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1, (above[column - 1] ?? 0) + (same ? 0 : 1));
      const swapped = row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      if (swapped) cost = Math.min(cost, (before[column - 2] ?? 0) + 1);
      current.push(cost);
      if (cost < least) least = cost;
    }
    // A swap reaches back two rows, so both must be beyond the limit.
    if (least >= limit && leastBefore >= limit) return limit;
    leastBefore = least;
    before = above;
    above = current;
  }
  return Math.min(limit, above[to.length] ?? limit);
}
