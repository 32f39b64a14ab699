/** The candidate that a mistyped word most likely means; undefined when none is close. Ignores case, spaces, `_` and `-`. */
export function didYouMean(word: string, candidates: Iterable<string>): string | undefined {
  const plain = fold(word);
  let nearest: string | undefined;
  let least = word.length < 6 ? 2 : 3;
  for (const candidate of candidates) {
    const typos = countTypos(plain, fold(candidate));
    if (typos < least) [nearest, least] = [candidate, typos];
  }
  return nearest;
}

const fold = (word: string): string => word.toLowerCase().replace(/[\s_-]/g, '');

/** The letters between what two words have in common at their start and end; two swapped ones count as one. */
function countTypos(a: string, b: string): number {
  const shorter = Math.min(a.length, b.length);
  let start = 0;
  while (start < shorter && a[start] === b[start]) start++;
  const isSwapped = start + 1 < shorter && a[start] === b[start + 1] && a[start + 1] === b[start];
  if (isSwapped) start += 2;
  let end = 0;
  while (end < shorter - start && a.at(-1 - end) === b.at(-1 - end)) end++;
  return Math.max(a.length, b.length) - start - end + (isSwapped ? 1 : 0);
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
