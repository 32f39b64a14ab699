// Draws a flame graph: `npx tsx bench/flame.ts FILE.cpuprofile > FILE.svg`, of a profile that `node --cpu-prof` wrote. Width is
// wall-clock time without idle time; a frame is below its caller.
import { readFileSync } from 'node:fs';

interface ProfileNode {
  readonly id: number;
  readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
  readonly children?: readonly number[];
}

interface Profile {
  readonly nodes: readonly ProfileNode[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

/** A frame of the graph: all samples of a function with the same call stack. */
interface Frame {
  readonly name: string;
  microseconds: number;
  readonly children: Map<string, Frame>;
}

const width = 1200;
const rowHeight = 17;

/** Narrower frames are omitted. */
const minWidth = 1.5;

/** Colors by the owner of a frame's code: the gateway, the database driver, GraphQL. Everything else is Node.js. */
const hues: readonly (readonly [owner: RegExp, hue: number])[] = [
  [/ gateway\//, 130],
  [/ (pg|postgres)[\w-]*\//, 210],
  [/ graphql[\w-]*\//, 300],
];
const otherHue = 35;

/** Frames of the startup and of idle time. */
const ignored = /^\((idle|root)\)|ModuleJob|ModuleLoader|internal\/modules|cjs\/loader|Module\./;

function read(profile: Profile): Frame {
  const nodes = new Map(profile.nodes.map((node) => [node.id, node]));
  const parents = new Map(profile.nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)));
  const root: Frame = { name: 'gateway', microseconds: 0, children: new Map() };
  for (const [index, sample] of profile.samples.entries()) {
    const stack: string[] = [];
    for (let id: number | undefined = sample; id !== undefined; id = parents.get(id)) stack.unshift(nameOf(nodes.get(id)));
    if (stack.slice(1).some((name) => ignored.test(name))) continue;
    add(root, stack.slice(1), profile.timeDeltas[index] ?? 0);
  }
  return root;
}

function nameOf(node: ProfileNode | undefined): string {
  if (!node) return '?';
  const { functionName, url, lineNumber } = node.callFrame;
  // Sources that a loader compiled have no line numbers: it writes them on one line.
  const line = url.endsWith('.ts') ? '' : `:${lineNumber + 1}`;
  return `${functionName || '(anonymous)'}${url ? ` ${placeOf(url)}${line}` : ''}`;
}

/** The owner of a file, `gateway` or the name of a package, and the end of its path. */
function placeOf(url: string): string {
  const [, inPackage] = /.*node_modules\/(.+)/.exec(url) ?? [];
  if (inPackage) return inPackage.replace(/^((?:@[^/]+\/)?[^/]+)\/.*\/([^/]+)$/, '$1/$2');
  return url.startsWith('file:') ? `gateway/${url.split('/').slice(-2).join('/')}` : url;
}

function add(root: Frame, stack: readonly string[], microseconds: number): void {
  let frame = root;
  frame.microseconds += microseconds;
  for (const name of stack) {
    const child: Frame = frame.children.get(name) ?? { name, microseconds: 0, children: new Map() };
    frame.children.set(name, child);
    child.microseconds += microseconds;
    frame = child;
  }
}

function draw(root: Frame): string {
  const boxes: string[] = [];
  let depth = 0;
  const place = (frame: Frame, x: number, level: number): void => {
    const w = (frame.microseconds / root.microseconds) * width;
    if (w < minWidth) return;
    depth = Math.max(depth, level);
    boxes.push(box(frame, x, w, level, ((frame.microseconds / root.microseconds) * 100).toFixed(1)));
    let at = x;
    for (const child of [...frame.children.values()].sort((a, b) => b.microseconds - a.microseconds)) {
      place(child, at, level + 1);
      at += (child.microseconds / root.microseconds) * width;
    }
  };
  place(root, 0, 0);
  const height = (depth + 1) * rowHeight;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="monospace" font-size="11">\n${boxes.join('\n')}\n</svg>\n`;
}

function box({ name }: Frame, x: number, w: number, level: number, percent: string): string {
  const y = level * rowHeight;
  const hue = hues.find(([owner]) => owner.test(name))?.[1] ?? otherHue;
  const text =
    w > 40 ? `<text x="${(x + 3).toFixed(1)}" y="${y + 12}">${escapeXml(name.slice(0, Math.floor(w / 6.8)))}</text>` : '';
  return `<g><title>${escapeXml(name)} ${percent} %</title><rect x="${x.toFixed(1)}" y="${y}" width="${(w - 0.5).toFixed(1)}" height="${rowHeight - 1}" fill="hsl(${hue} 70% 75%)"/>${text}</g>`;
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

const [file] = process.argv.slice(2);
if (!file) throw new Error('No profile was given. Usage: npx tsx bench/flame.ts FILE.cpuprofile > FILE.svg');
process.stdout.write(draw(read(JSON.parse(readFileSync(file, 'utf8')) as Profile)));
