/**
 * Whether a JSON number, as text, survives being read as a 64-bit float and printed again: the same digits and exponent,
 * however written. `1.50` and `1e3` do; `1e400` and `12345678901234567890` do not, and would be stored as something else.
 */
export function isExactNumber(text: string): boolean {
  if (/^-?\d{1,15}$/.test(text)) return true; // the usual case
  const value = Number(text);
  return Number.isFinite(value) && normalise(text) === normalise(String(value));
}

/** A number's significant digits and the power of ten of the last one; the sign of zero is dropped. */
function normalise(text: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = /^(-?)(\d*)\.?(\d*)(?:e([+-]?\d+))?$/i.exec(text) ?? [];
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  const significant = digits.replace(/0+$/, '');
  if (significant === '') return '0';
  return `${sign}${significant}e${Number(exponent) - fraction.length + digits.length - significant.length}`;
}
