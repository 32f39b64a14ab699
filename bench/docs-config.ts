// Measures the validator: sites of several sizes, and documents of 256 KiB that take long, as multiples of JSON.parse.
import { validate } from '@user-group-gateway/docs-config';

const limit = 256 * 1_024;

/** Writes a table, and returns whether each document takes at most twenty times JSON.parse of a valid one of the same size. */
export function run(write: (text: string) => unknown): boolean {
  const valid = siteOf(limit);
  const parse = timeOf(() => JSON.parse(valid));
  write(`JSON.parse of a valid document of ${valid.length} characters: ${parse.toFixed(2)} ms. Node ${process.version}.\n\n`);
  write('| document | characters | processor time | times JSON.parse |\n|---|---|---|---|\n');
  let slowest = 0;
  for (const [name, text] of Object.entries(documents(valid))) {
    const milliseconds = timeOf(() => validate(text));
    const ratio = milliseconds / (parse * Math.max(1, text.length / valid.length));
    if (text.length >= valid.length - 10) slowest = Math.max(slowest, ratio);
    write(`| ${name} | ${text.length} | ${milliseconds.toFixed(2)} ms | ${ratio.toFixed(1)} |\n`);
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

function documents(valid: string): Record<string, string> {
  const fill = (start: string, unit: string, end = '') => start + unit.repeat((limit - start.length) / unit.length) + end;
  const pages = '{"name":"A","navigation":[{"group":"B","pages":[';
  return {
    'a typical site': siteOf(5_000),
    'a valid site': valid,
    'a valid site of 2.5 MB': siteOf(10 * limit),
    commas: fill('', ','),
    brackets: fill('', '['),
    'line breaks': fill('[', '\n', ']'),
    'an open string': fill('"', 'a'),
    'pages that are numbers': fill(pages, '1,', '1]}]}'),
    'one page': fill(pages, '"p",', '"p"]}]}'),
    'empty groups': fill('{"name":"A","navigation":[', '{},', '{}]}'),
    'one key': fill('{', '"name":1,', '"a":1}'),
  };
}

/** The processor time of a call, in milliseconds: on a busy machine it varies less than the time that passes. */
function timeOf(work: () => unknown): number {
  for (let call = 0; call < 10; call++) work(); // warm up
  const start = process.cpuUsage();
  let calls = 0;
  for (const end = performance.now() + 1_000; performance.now() < end || calls < 10; calls++) work();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1_000 / calls;
}
