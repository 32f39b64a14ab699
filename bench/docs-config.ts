// How long a validation takes: beside the npm package @mintlify/validation on the same files in the same run, and as files grow.
// The package is no dependency of this project (it brings 260 others, 120 MB): the first run installs it into a cache folder.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { validateDocsConfig } from '../src/docs-config/validate.ts';

const peer = { name: '@mintlify/validation', version: '0.1.878' };
const cache = fileURLToPath(new URL('../node_modules/.cache/bench-docs-config/', import.meta.url));
const rounds = 61;
const callsPerRound = 20;

type Validate = (source: string) => unknown;

/** Measures, writes a table, and tells whether the targets are met: under 1 ms, three times as fast, and linear. */
export async function run(write: (text: string) => unknown): Promise<boolean> {
  const files = [...sites()];
  const sizes = files.map((file) => file.length);
  write(
    `Files: ${files.length}, made for this run, ${Math.min(...sizes)} to ${Math.max(...sizes)} characters. Node ${process.version}.\n\n`,
  );
  const theirs = await loadPeer();
  const contenders: [string, Validate][] = [['docs-config', (source) => validateDocsConfig(source)]];
  // It takes a value, so that reading the text belongs to it.
  if (theirs) contenders.push([`${peer.name} ${peer.version}`, (source) => theirs(JSON.parse(source))]);
  const medians = measure(
    contenders.map(([, validate]) => validate),
    files,
  );
  const ours = medians[0] ?? Number.NaN;
  write('| validator | median of a file | ratio |\n|---|---|---|\n');
  for (const [index, [name]] of contenders.entries())
    write(`| ${name} | ${medians[index]?.toFixed(3)} ms | ${((medians[index] ?? 0) / ours).toFixed(2)} |\n`);
  if (!theirs) write(`\n${peer.name} could not be installed; nothing to compare with.\n`);

  write('\n| size | findings | median | per MB |\n|---|---|---|---|\n');
  const rates = [0.1, 1, 10].map((megabytes) => {
    const { text, findings, milliseconds } = growth(megabytes);
    const rate = (milliseconds / text) * 1e6;
    write(`| ${(text / 1e6).toFixed(1)} MB | ${findings} | ${milliseconds.toFixed(1)} ms | ${rate.toFixed(1)} ms |\n`);
    return rate;
  });
  const linear = Math.max(...rates) / Math.min(...rates) < 3;
  const faster = medians[1] === undefined || medians[1] / ours >= 3;
  write(
    `\nUnder 1 ms: ${ours < 1 ? 'yes' : 'no'}. Three times as fast: ${theirs ? (faster ? 'yes' : 'no') : 'not measured'}. Linear: ${linear ? 'yes' : 'no'}.\n`,
  );
  return ours < 1 && faster && linear;
}

/** The median time of one file, for each function: rounds take turns, so that what else the machine does meets all alike. */
function measure(functions: readonly Validate[], files: readonly string[]): number[] {
  const times: number[][] = functions.map(() => []);
  for (let round = 0; round < rounds; round++) {
    for (const [index, validate] of functions.entries()) {
      const start = performance.now();
      for (let call = 0; call < callsPerRound; call++) for (const file of files) validate(file);
      times[index]?.push((performance.now() - start) / callsPerRound / files.length);
    }
  }
  return times.map((samples) => median(samples.slice(10))); // the first rounds warm up
}

/** Validates a file of a size with some mistakes in it. */
function growth(megabytes: number): { text: number; findings: number; milliseconds: number } {
  const groups = Array.from({ length: Math.round(megabytes * 5200) }, (_, index) => ({
    group: `Group ${index}`,
    pages: [`section-${index}/introduction`, `section-${index}/installation`, `section-${index}/${'reference'.repeat(9)}`],
    ...(index % 100 === 0 && { pagse: [] }),
  }));
  const text = JSON.stringify({ name: 'Acme', navigation: groups }, null, 1);
  const samples = Array.from({ length: 9 }, () => {
    const start = performance.now();
    validateDocsConfig(text);
    return performance.now() - start;
  });
  const { errorCount, warningCount } = validateDocsConfig(text);
  return { text: text.length, findings: errorCount + warningCount, milliseconds: median(samples) };
}

/** Configurations as teams write them, about 5,000 characters each: some right, some with mistakes. */
function* sites(): Generator<string> {
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

async function loadPeer(): Promise<((value: unknown) => unknown) | undefined> {
  const entry = join(cache, 'node_modules', peer.name, 'dist', 'index.js');
  try {
    if (!existsSync(entry)) {
      mkdirSync(cache, { recursive: true });
      writeFileSync(join(cache, 'package.json'), '{"private": true}\n');
      const args = [
        'install',
        '--ignore-scripts',
        '--no-audit',
        '--no-fund',
        '--loglevel=error',
        '--save-exact',
        `${peer.name}@${peer.version}`,
      ];
      execFileSync('npm', args, { cwd: cache, stdio: ['ignore', 'ignore', 'inherit'], shell: process.platform === 'win32' });
    }
    const module = (await import(pathToFileURL(entry).href)) as { validateMintConfig: (value: unknown) => unknown };
    return module.validateMintConfig;
  } catch {
    return undefined;
  }
}

function median(samples: readonly number[]): number {
  return samples.toSorted((a, b) => a - b)[samples.length >> 1] ?? Number.NaN;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  process.exitCode = (await run((text) => process.stdout.write(text))) ? 0 : 1;
}
