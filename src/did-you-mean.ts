/**
 * The candidate that a mistyped word most likely means; undefined when none is close. Ignores case, spaces, `_` and `-`.
 *
 * @param candidates a closed list of at most 50 names: the time is in proportion to their number.
 * @param mostTypos by default 1 for a word of up to five characters, and 2 for a longer one.
 */
export function didYouMean(word: string, candidates: Iterable<string>, mostTypos = word.length < 6 ? 1 : 2): string | undefined {
  const plain = fold(word);
  const folded = Array.from(candidates, (candidate) => [candidate, fold(candidate)] as const);
  for (let typos = 0; typos <= mostTypos; typos++) {
    const near = folded.find(([, candidate]) => isWithin(typos, plain, 0, candidate, 0));
    if (near) return near[0];
  }
  return undefined;
}

function fold(word: string): string {
  return word.toLowerCase().replace(/[\s_-]/g, '');
}

/** Whether `typos` letters that are extra, missing, wrong or swapped make `a` from the index `from` out of `b` from `to`. */
function isWithin(typos: number, a: string, from: number, b: string, to: number): boolean {
  if (Math.abs(a.length - from - (b.length - to)) > typos) return false;
  let [i, j] = [from, to];
  while (i < a.length && a[i] === b[j]) [i, j] = [i + 1, j + 1];
  if (i === a.length && j === b.length) return true;
  if (typos === 0) return false;
  const isSwapped = a[i] === b[j + 1] && a[i + 1] === b[j];
  return (
    isWithin(typos - 1, a, i + 1, b, j + 1) ||
    isWithin(typos - 1, a, i + 1, b, j) ||
    isWithin(typos - 1, a, i, b, j + 1) ||
    (isSwapped && isWithin(typos - 1, a, i + 2, b, j + 2))
  );
}
