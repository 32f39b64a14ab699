/**
 * Whether a JSON number, as text, survives being read as a 64-bit float and printed again: the same digits and exponent,
 * however written. `1.50` and `1e3` do; `1e400` and `12345678901234567890` do not, and would be stored as something else.
 * Linear in the length of the text.
 */
export function isExactNumber(text: string): boolean {
  if (/^-?\d{1,15}$/.test(text)) return true; // the usual case
  const value = Number(text);
  return Number.isFinite(value) && normalize(text) === normalize(String(value));
}

const zero = 0x30;

/** A number's significant digits and the power of ten of the last one; the sign of zero is dropped. */
function normalize(text: string): string {
  const sign = text.startsWith('-') ? '-' : '';
  const mark = text.search(/e/i);
  const end = mark === -1 ? text.length : mark;
  const point = text.indexOf('.');
  const whole = text.slice(sign.length, point === -1 ? end : point);
  const fraction = point === -1 ? '' : text.slice(point + 1, end);
  const digits = whole + fraction;
  // By index and not by a regular expression: /0+$/ takes time by the square of a run of zeros that does not end the text.
  let first = 0;
  while (digits.charCodeAt(first) === zero) first++;
  let last = digits.length;
  while (last > first && digits.charCodeAt(last - 1) === zero) last--;
  if (first === last) return '0';
  const exponent = mark === -1 ? 0 : Number(text.slice(mark + 1));
  return `${sign}${digits.slice(first, last)}e${exponent - fraction.length + digits.length - last}`;
}
