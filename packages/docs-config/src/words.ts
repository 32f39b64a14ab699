/**
 * The candidate that a mistyped word most likely means; undefined when none is close. Ignores case, spaces, `_` and `-`.
 *
 * @param candidates a closed list of at most 50 names: the time is in proportion to their number.
 */
export function didYouMean(word: string, candidates: Iterable<string>): string | undefined {
  const plain = fold(word);
  const folded = Array.from(candidates, (candidate) => [candidate, fold(candidate)] as const);
  for (let typos = 0; typos <= (word.length < 6 ? 1 : 2); typos++) {
    const near = folded.find(([, candidate]) => isWithin(typos, plain, candidate));
    if (near) return near[0];
  }
  return undefined;
}

const fold = (word: string): string => word.toLowerCase().replace(/[\s_-]/g, '');

/** Whether `typos` letters that are extra, missing, wrong or swapped make `a` out of `b`. */
function isWithin(typos: number, a: string, b: string): boolean {
  if (Math.abs(a.length - b.length) > typos) return false;
  let same = 0;
  while (same < a.length && a[same] === b[same]) same++;
  if (a.length === b.length && same === a.length) return true;
  if (typos === 0) return false;
  const [left, right] = [a.slice(same), b.slice(same)];
  const isSwapped = left[0] === right[1] && left[1] === right[0];
  return (
    isWithin(typos - 1, left.slice(1), right.slice(1)) ||
    isWithin(typos - 1, left.slice(1), right) ||
    isWithin(typos - 1, left, right.slice(1)) ||
    (isSwapped && isWithin(typos - 1, left.slice(2), right.slice(2)))
  );
}

/** Quotes a word: in double quotes, escaped, at most 60 characters. */
export function quote(word: string): string {
  return JSON.stringify(word.length > 60 ? `${word.slice(0, 59).toWellFormed()}…` : word);
}

/** Quotes words and joins them with commas. */
export function quoteList(words: Iterable<string>): string {
  return Array.from(words, quote).join(', ');
}

/** Quotes a part of the text for a message: in backticks, on one line, at most 40 characters. */
export function quoteText(text: string): string {
  const cut = text.slice(0, 200).replace(/\s+/g, ' ').trim();
  return `\`${cut.length > 40 || text.length > 200 ? `${cut.slice(0, 39).toWellFormed()}…` : cut}\``;
}

/** Control characters, line separators, and invisible marks: those of text direction, and the byte order mark. */
const controls = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}\ufeff]/gu;

/** Makes text safe for a terminal: tabs become two spaces, control characters and changes of text direction become �. */
export function escapeControls(text: string): string {
  return text.toWellFormed().replaceAll('\t', '  ').replace(controls, '\ufffd');
}

/** Makes JSON text safe for a terminal: escapes what `JSON.stringify` does not, so that the value is the same. */
export function escapeJson(json: string): string {
  return json.replace(controls, (found) => (found < ' ' ? found : `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`));
}
