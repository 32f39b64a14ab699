import fc from 'fast-check';

/** A text of any size: what is repeated in it, and what surrounds it. `§` becomes a number that is different each time. */
export interface HostileShape {
  readonly prefix: string;
  readonly first: string;
  readonly middle: string;
  readonly second: string;
  readonly suffix: string;
}

/** A shape at a size, in characters, give or take a repetition. */
export function textOf({ prefix, first, middle, second, suffix }: HostileShape, characters: number): string {
  const half = characters / (second === '' ? 1 : 2);
  return prefix + repeat(first, half) + middle + repeat(second, half) + suffix;
}

function repeat(unit: string, characters: number): string {
  if (unit === '') return '';
  // An even number: every second `/*/` ends a comment, so that texts of odd and of even numbers are of different kinds.
  if (!unit.includes('§')) return unit.repeat(2 * Math.ceil(characters / unit.length / 2));
  const parts: string[] = [];
  for (let length = 0; length < characters; ) {
    const part = unit.replaceAll('§', String(parts.length));
    parts.push(part);
    length += part.length;
  }
  return parts.join('');
}

const atoms = [
  '{',
  '}',
  '[',
  ']',
  ',',
  ':',
  '"',
  "'",
  '`',
  '“',
  '”',
  '‘',
  '\\',
  '\\"',
  '\\u00',
  '\\u0041',
  "\\'",
  ';',
  '=',
  '=>',
  '，',
  '：',
  ' ',
  '\t',
  '\n',
  '\r\n',
  '\r',
  '\u00a0',
  '\ufeff',
  '\u2028',
  '\u0000',
  '\u200b',
  ' ,',
  ', ',
  ' \n',
  '0',
  '1',
  '01',
  '1.',
  '.5',
  '-',
  '+1',
  '1e',
  'e9',
  '0x',
  'f',
  '#',
  '#fff',
  '?',
  '.',
  '…',
  '/',
  './',
  '../',
  '//',
  '// a\n',
  '/*',
  '*/',
  '/* */',
  '<!--',
  '-->',
  '#a\n',
  '<<<<<<< a\n',
  '=======\n',
  '>>>>>>> b\n',
  '||||||| c\n',
  'a',
  'a ',
  'true',
  'True',
  'null',
  'undefined',
  'NaN',
  'GET ',
  'https://',
  'mailto:',
  '😀',
  '\ud800',
  'NAME',
  'x',
  '"a"',
  '"a":',
  '"a":1',
  '"a":1,',
  '"a" ',
  '"k§":1,',
  '"§",',
  '"pages/§",',
  '"/a?#§",',
  '1,',
  '"1",',
  '""',
  '""a"',
  '"a\n',
  '{"a":',
  '{}',
  '{},',
  '[]',
  '[],',
  '"a":1}',
  '"a":1},',
  '"name"',
  '"group":',
  '"pages":[',
  '{"group":"a","pages":[',
  '{"name":"§","url":"pages/§"},',
  '{"name":"a","url":"/b/"},',
  '{"version":"v§"},',
  '"Name":"a",',
  '"nAME§":1,',
  '"x":"a",',
] as const;

const prefixes = [
  '',
  '{',
  '[',
  '{"name":"a","navigation":[{"group":"a","pages":[',
  '{"name":"a","navigation":[],"versions":[',
  '{"name":"a","navigation":[{"group":"a","pages":["pages/1"]}],"tabs":[',
  '{"name":"a","navigation":[],"anchors":[',
  '{"name":"a","navigation":[],"footerSocials":{',
  '{"name":"a","navigation":[],"colors":{"primary":"',
  '{"name":"a","navigation":[],"openapi":["',
  '{"name":"',
  '{"name":',
  '{"name":"a","navigation":{},"theme":',
  '{"x":[{"y":',
  'module.exports = ',
] as const;

const suffixes = ['', '}', ']', ']}', ']}]}', '"', '"}', '"]}', 'x', '1', '\n', '\n"', '*/'] as const;

const unit = fc.array(fc.constantFrom(...atoms), { minLength: 1, maxLength: 3 }).map((parts) => parts.join(''));

/** Any sequence of pieces of JSON and of what is mistaken for JSON. */
export const hostileShapes: fc.Arbitrary<HostileShape> = fc.record({
  prefix: fc.constantFrom(...prefixes),
  first: unit,
  middle: fc.constantFrom('', ...suffixes, '{}', ',{},', ':'),
  second: fc.oneof(fc.constant(''), unit),
  suffix: fc.constantFrom(...suffixes),
});
