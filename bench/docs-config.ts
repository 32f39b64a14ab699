// Measures the validator: compared with the npm package @mintlify/validation on the same files in the same run, and for growing
// files. The package is not a dependency (it brings 260 others, 120 MB): the first run installs it into a cache folder.

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { validateDocsConfig } from '../src/docs-config/validate.ts';
import { installPackage } from './cached-package.ts';
import { median } from './statistics.ts';

const peer = { name: '@mintlify/validation', version: '0.1.878', entry: 'dist/index.js' };
const rounds = 120;
const warmUpRounds = 40;
const callsPerRound = 20;

type Validate = (source: string) => unknown;
type Contender = 'ours' | 'theirs';

/** Measures, writes a table, and reports whether the targets are met: under 1 ms, three times as fast, and linear. */
export async function run(write: (text: string) => unknown): Promise<boolean> {
  const sizes = Array.from(sites(), (file) => file.length);
  write(
    `Files: ${sizes.length}, made for this run, ${Math.min(...sizes)} to ${Math.max(...sizes)} characters. Node ${process.version}.\n\n`,
  );
  const installed = installPackage(peer) !== undefined;
  const [ours = Number.NaN, theirs] = await measure(installed ? ['ours', 'theirs'] : ['ours']);
  write('| validator | median of a file | ratio |\n|---|---|---|\n');
  write(`| docs-config | ${ours.toFixed(3)} ms | 1 |\n`);
  if (theirs !== undefined) write(`| ${peer.name} ${peer.version} | ${theirs.toFixed(3)} ms | ${(theirs / ours).toFixed(2)} |\n`);
  else write(`\n${peer.name} could not be installed; nothing was compared.\n`);

  write('\n| size | diagnostics | median | per MB |\n|---|---|---|---|\n');
  for (let call = 0; call < 20; call++) growth(0.01); // warm up
  const rates = [0.1, 1, 10].map((megabytes) => {
    const { text, diagnostics, milliseconds } = growth(megabytes);
    const rate = (milliseconds / text) * 1e6;
    write(`| ${(text / 1e6).toFixed(1)} MB | ${diagnostics} | ${milliseconds.toFixed(1)} ms | ${rate.toFixed(1)} ms |\n`);
    return rate;
  });
  const bounded = measureHostile(write);
  const linear = bounded && Math.max(...rates) / Math.min(...rates) < 3;
  const faster = theirs !== undefined && theirs / ours >= 3;
  const compared = theirs === undefined ? 'not measured' : faster ? 'yes' : 'no';
  write(`\nUnder 1 ms: ${ours < 1 ? 'yes' : 'no'}. Three times as fast: ${compared}. Linear: ${linear ? 'yes' : 'no'}.\n`);
  return ours < 1 && faster && linear;
}

const hostileCharacters = 65_536;
const growthFactor = 8;

/** Measures hostile documents, writes a table, and returns whether their time grows with their size only. */
function measureHostile(write: (text: string) => unknown): boolean {
  const files = [...sites()];
  const parseMilliseconds = timeOf(() => files.map((file) => JSON.parse(file))) / files.join('').length;
  const long = hostileDocuments(growthFactor * hostileCharacters);
  write(
    `\n| document of ${hostileCharacters} characters | median | times JSON.parse | ${growthFactor} times as long |\n|---|---|---|---|\n`,
  );
  let isLinear = true;
  for (const [index, { name, source, files = [] }] of hostileDocuments(hostileCharacters).entries()) {
    const milliseconds = timeOf(() => validateDocsConfig(source, { files }));
    const { source: longSource, files: longFiles = [] } = long[index] as HostileDocument;
    const growth = timeOf(() => validateDocsConfig(longSource, { files: longFiles })) / milliseconds;
    isLinear &&= growth < 2 * growthFactor; // the square would be 64 times
    const parsed = parseMilliseconds * (source.length + files.join('').length);
    write(`| ${name} | ${milliseconds.toFixed(1)} ms | ${(milliseconds / parsed).toFixed(0)} | ${growth.toFixed(1)} × |\n`);
  }
  return isLinear;
}

/** The median time of a few runs, in milliseconds. */
function timeOf(work: () => unknown): number {
  const samples = Array.from({ length: 9 }, () => {
    const start = performance.now();
    work();
    return performance.now() - start;
  });
  return median(samples);
}

/** A text to validate, and the paths of the site's files. */
interface HostileDocument {
  readonly name: string;
  readonly source: string;
  readonly files?: readonly string[];
}

/** Documents of about as many characters that make a validator work hard. */
function hostileDocuments(characters: number): readonly HostileDocument[] {
  /** A unit again and again; `§` becomes a number that is different each time. */
  const repeat = (unit: string): string => {
    const parts: string[] = [];
    for (let length = 0; length < characters; length += parts.at(-1)?.length ?? 0)
      parts.push(unit.replaceAll('§', `${parts.length}`));
    return parts.join('');
  };
  const pages = (list: string) => `{"name":"a","navigation":[{"group":"a","pages":[${list}"x"]}]`;
  const names = Array.from({ length: characters / 64 }, (_, index) => `${index}${'introduction'.repeat(5)}`.slice(0, 60));
  return [
    {
      name: 'missing pages beside files with similar names',
      source: `${pages(names.map((name) => `"${name}",`).join(''))}}`,
      files: names.map((name) => `${name}s.mdx`),
    },
    { name: 'a wrong type in every second character', source: `${pages(repeat('1,'))}}` },
    { name: 'unknown keys', source: `{"name":"a","navigation":[],${repeat('"topbarCta§":1,')}"x":1}` },
    { name: 'values of no list', source: `{"name":"a","navigation":[],"anchors":[${repeat('{"iconType":"sharp-§"},')}{}]}` },
    { name: 'tabs that start no page', source: `${pages(repeat('"p§",'))},"tabs":[${repeat('{"name":"a","url":"q§"},')}{}]}` },
    { name: 'duplicate keys', source: `{${repeat('"name":1,')}"a":1}` },
    { name: 'keys that belong to objects behind a long list', source: `{"a":[${repeat('1,')}{},${repeat('"k":1},')}` },
    { name: 'comments before words', source: `{"name": "a"${repeat(' /**/ a')}"}` },
  ];
}

/**
 * The median time of one file, for each contender. Each runs in a separate process, so that none pays for the garbage of another;
 * their rounds are interleaved, so that other load on the machine affects all equally.
 */
async function measure(contenders: readonly Contender[]): Promise<number[]> {
  const execArgv = ['--import', import.meta.resolve('tsx')];
  const processes = contenders.map((contender) => fork(fileURLToPath(import.meta.url), ['--contender', contender], { execArgv }));
  const times: number[][] = contenders.map(() => []);
  for (const child of processes) await once(child, 'message'); // ready
  for (let round = 0; round < rounds; round++) {
    for (const [index, child] of processes.entries()) {
      const result = once(child, 'message');
      child.send('round');
      const [milliseconds] = (await result) as [number];
      times[index]?.push(milliseconds);
    }
  }
  for (const child of processes) child.disconnect();
  return times.map((samples) => median(samples.slice(warmUpRounds)));
}

/** The child process of {@link measure}: runs one round per message. */
async function contend(contender: Contender): Promise<void> {
  const files = [...sites()];
  const validate = contender === 'ours' ? (source: string) => validateDocsConfig(source) : await loadPeer();
  process.on('message', () => {
    const start = performance.now();
    for (let call = 0; call < callsPerRound; call++) for (const file of files) validate(file);
    process.send?.((performance.now() - start) / callsPerRound / files.length);
  });
  process.send?.('ready');
}

/** Validates a file of a given size with some mistakes. */
function growth(megabytes: number): { text: number; diagnostics: number; milliseconds: number } {
  const groups = Array.from({ length: Math.round(megabytes * 5200) }, (_, index) => ({
    group: `Group ${index}`,
    pages: [`section-${index}/introduction`, `section-${index}/installation`, `section-${index}/${'reference'.repeat(9)}`],
    ...(index % 100 === 0 && { pagse: [] }),
  }));
  const text = JSON.stringify({ name: 'Acme', navigation: groups }, null, 1);
  const { errorCount, warningCount } = validateDocsConfig(text);
  return { text: text.length, diagnostics: errorCount + warningCount, milliseconds: timeOf(() => validateDocsConfig(text)) };
}

/** Typical configurations of about 5,000 characters each: some valid, some with mistakes. */
export function* sites(): Generator<string> {
  for (const [index, product] of ['Acme', 'Globex', 'Initech', 'Umbrella', 'Hooli', 'Soylent'].entries()) {
    const folders = ['guides', 'concepts', 'api-reference', 'integrations', 'self-hosting', 'security', 'changelog'];
    const topics = [
      'introduction',
      'quickstart',
      'installation',
      'configuration',
      'authentication',
      'errors',
      'webhooks',
      'pagination',
      'limits',
    ];
    const navigation = folders.map((folder) => ({
      group: `${product} ${folder}`,
      pages: topics.map((topic) => `${folder}/${topic}-${index}`),
    }));
    const site = {
      $schema: 'https://example.com/schema.json',
      name: product,
      logo: { light: '/logo/light.svg', dark: '/logo/dark.svg', href: 'https://example.com' },
      favicon: '/favicon.svg',
      colors: {
        primary: index === 1 ? 'green' : '#0d9373',
        light: '#07c983',
        dark: '#0d9373',
        background: { light: '#ffffff', dark: '#0f1117' },
      },
      topbarLinks: ['Support', 'Blog', 'Status'].map((name) => ({ name, url: `https://example.com/${name}` })),
      topbarCtaButton: { name: 'Dashboard', url: 'https://example.com/dashboard' },
      anchors: ['Community', 'Forum', 'Examples'].map((name) => ({
        name,
        icon: 'book',
        url: `https://example.com/${name}`,
        color: { from: '#ff5733', to: '#c70039' },
      })),
      tabs: folders.slice(2, 5).map((folder) => ({ name: folder, url: folder })),
      api: { baseUrl: 'https://api.example.com', auth: { method: 'bearer' }, playground: { mode: 'show' } },
      footerSocials: { github: 'https://github.com/example', [index === 2 ? 'x' : 'twitter']: 'https://twitter.com/example' },
      feedback: { suggestEdit: true, raiseIssue: index === 3 ? 'yes' : true },
      navigation,
    };
    yield JSON.stringify(site, null, 2);
  }
}

/** It expects a value, so parsing the text is included. */
async function loadPeer(): Promise<Validate> {
  const { validateMintConfig } = (await import(pathToFileURL(installPackage(peer) ?? '').href)) as {
    validateMintConfig: Validate;
  };
  return (source) => validateMintConfig(JSON.parse(source));
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const [option, contender] = process.argv.slice(2);
  if (option === '--contender') await contend(contender as Contender);
  else process.exitCode = (await run((text) => process.stdout.write(text))) ? 0 : 1;
}
