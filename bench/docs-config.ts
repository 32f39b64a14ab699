// Measures the validator: documents of 256 KiB that take long, as multiples of JSON.parse of a valid one of that size.
import { validate } from '@user-group-gateway/docs-config';

const limit = 256 * 1_024;

/** Writes a table, and returns whether each document takes at most twenty times JSON.parse of a valid one. */
export function run(write: (text: string) => unknown): boolean {
  const valid = siteOf(limit);
  write(`Node ${process.version}.\n\n| document | diagnostics | processor time | times JSON.parse |\n|---|---|---|---|\n`);
  let slowest = 0;
  for (const [name, text] of Object.entries({ 'a valid site': valid, ...documents() })) {
    const options = name.includes('missing') ? { files: [] } : {};
    const { length } = validate(text, options).diagnostics;
    const [milliseconds, parse] = timeOf(
      () => validate(text, options),
      () => JSON.parse(valid),
    );
    slowest = Math.max(slowest, milliseconds / parse);
    write(`| ${name} | ${length} | ${milliseconds.toFixed(2)} ms | ${(milliseconds / parse).toFixed(1)} |\n`);
  }
  write(`\nAt most twenty times: ${slowest <= 20 ? 'yes' : 'no'}.\n`);
  return slowest <= 20;
}

/** The document of a site of about as many characters. */
function siteOf(characters: number): string {
  const groups = Array.from({ length: Math.floor(characters / 130) }, (_, index) => ({
    group: `Group ${index}`,
    pages: [`guides/${index}/introduction`, `guides/${index}/quickstart`],
  }));
  return JSON.stringify({ name: 'Acme', colors: { primary: '#0d9373' }, navigation: groups }, null, 1);
}

/** Repeats a part, in which # is a number, until a document is full. */
function fill(start: string, part: string, end = '', characters = limit): string {
  let text = start;
  for (let index = 0; text.length < characters - end.length - part.length - 10; index++) {
    text += part.replace('#', ((index * 7_919) % 100_000).toString(36)); // not in order
  }
  return text + end;
}

/** The most mistakes of each kind, and what is slow to read. */
function documents(): Record<string, string> {
  const site = '{"name":"A","navigation":[{"group":"B","pages":["p"]}],';
  const pages = '{"name":"A","navigation":[{"group":"B","pages":[';
  const levels = '{"group":"B","pages":['.repeat(90);
  return {
    commas: fill('', ','),
    brackets: fill('', '['),
    'line breaks': fill('[', '\n', ']'),
    'an open string': fill('"', 'a'),
    'an open list of numbers': fill(pages, '1,'),
    'one long page': fill(`${pages}"`, 'a', '"]}]}'),
    'a page of escapes': fill(`${pages}"`, '\\n', '"]}]}'),
    'short pages of escapes': fill(pages, '"\\n",', '1]}]}'),
    'empty lists': fill('{"$schema":[', '[],', '1]}'),
    'objects that are not of the format': fill('{"x":[', '{"k#":1},', '1]}'),
    'pages that are numbers': fill(pages, '1,', '1]}]}'),
    'pages that are objects': fill(pages, '{},', '1]}]}'),
    'empty pages': fill(pages, '"",', '1]}]}'),
    'one page': fill(pages, '"p",', '"p"]}]}'),
    'different pages that are missing': fill(pages, '"#",', '"p"]}]}'),
    'empty groups': fill('{"name":"A","navigation":[', '{},', '1]}'),
    'mistakes at 180 levels': fill(`{"name":"A","navigation":[${levels}`, '1,', `1${']}'.repeat(90)}]}`),
    'one key': fill('{', '"name":1,', '"a":1}'),
    'different keys': fill('{', '"#":1,', '"a":1}'),
    'keys that are nearly right': fill('{', '"favic#":1,', '"a":1}'),
    'unknown keys of groups': fill('{"name":"A","navigation":[', '{"#":1},', '1]}'),
    'duplicates below a long key': fill(`{"${'~'.repeat(2_000)}":{`, '"a":1,', '"a":1}}'),
    'unknown platforms': fill(`${site}"footerSocials":{`, '"#":1,', '"x":1}}'),
    'colors that are not hexadecimal': fill(`${site}"anchors":[`, '{"color":"x"},', '1]}'),
    'unlisted icon types': fill(`${site}"anchors":[`, '{"iconType":"solit"},', '1]}'),
    'versions that are not declared': fill(`${site}"anchors":[`, '{"version":"x"},', '1]}'),
    'tabs without pages': fill(`${site}"tabs":[`, '{"url":"#"},', '1]}'),
    'pages and tabs': fill(`${fill(pages, '"#",', '1]}],', limit / 2)}"tabs":[`, '{"url":"#"},', '1]}'),
  };
}

/** The processor time of a call of each function in milliseconds: the best of series in turn, because other processes disturb. */
function timeOf(...works: [() => unknown, () => unknown]): [number, number] {
  const best = works.map(() => Number.POSITIVE_INFINITY);
  for (let series = 0; series < 15; series++)
    works.forEach((work, index) => {
      const start = process.cpuUsage();
      for (let call = 0; call < 3; call++) work();
      const { user, system } = process.cpuUsage(start);
      best[index] = Math.min(best[index] as number, (user + system) / 3_000);
    });
  return best as [number, number];
}
