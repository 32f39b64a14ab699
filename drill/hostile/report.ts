import type { HostileScenario } from './hostile-scenario.ts';
import type { Reply } from './request.ts';

/** The result of one scenario. */
export interface ScenarioResult {
  readonly name: string;
  readonly replies: readonly Reply[];
  readonly peakMiB: number | undefined;
  /** How the gateway exited, if it did. */
  readonly ended: string | undefined;
  /** The lines of the gateway's log about failures that no code has handled. */
  readonly unhandled: readonly string[];
  /** Whether an ordinary request works afterwards. */
  readonly works: boolean;
  readonly seconds: number;
}

const maxPeakMiB = 500;

/** Codes with which a request is refused before it is executed. */
const refusedAtOnce: ReadonlySet<string> = new Set([
  'UNAUTHENTICATED',
  'FORBIDDEN',
  'NOT_FOUND',
  'METHOD_NOT_ALLOWED',
  'PAYLOAD_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
  'HEADERS_TOO_LARGE',
  'BODY_REQUIRED',
  'RATE_LIMITED',
]);

/** Why a result fails; empty if it passes. */
export function violations(scenario: HostileScenario, result: ScenarioResult): string[] {
  const { replies, peakMiB, ended, unhandled, works } = result;
  const expects: readonly string[] = scenario.expects ?? ['4xx'];
  const unexpected = replies.filter(({ outcome }) => !expects.includes(outcome));
  const { someExpect, refusals = [] } = scenario;
  const reached = replies.filter(({ code }) => !refusedAtOnce.has(code));
  const refused = replies.filter(({ code, isAuthorized }) => isAuthorized && refusedAtOnce.has(code) && !refusals.includes(code));
  const found: (string | false)[] = [
    ended !== undefined && `the process exited: ${ended}`,
    unhandled.length > 0 && `the gateway logged a failure that was not handled: ${unhandled[0]}`,
    ended === undefined && !works && 'an ordinary request fails afterwards',
    peakMiB === undefined && process.platform === 'linux' && ended === undefined && 'the memory was not measured',
    (peakMiB ?? 0) >= maxPeakMiB && `memory ${Math.round(peakMiB ?? 0)} MiB`,
    replies.length === 0 && 'nothing was sent',
    slowestOf(replies) > (scenario.maxReplyMs ?? Number.POSITIVE_INFINITY) && `a response took ${ms(slowestOf(replies))}`,
    refused.length > 0 && `${refused.length} were refused before they were executed: ${summarize(refused)}`,
    reached.length === 0 &&
      replies.some(({ code }) => !refusals.includes(code)) &&
      `every request was refused before it was executed: ${summarize(replies)}`,
    unexpected.length > 0 &&
      `${unexpected.length} of ${replies.length} responses are not ${expects.join(' or ')}: ${summarize(unexpected)}${excerpt(unexpected)}`,
    someExpect !== undefined &&
      !reached.some(({ outcome }) => (someExpect as readonly string[]).includes(outcome)) &&
      `no response is ${someExpect.join(' or ')}`,
  ];
  return found.filter((text) => text !== false);
}

/** The text of the first unexpected response. */
function excerpt([first]: readonly Reply[]): string {
  return first?.text ? ` (${JSON.stringify(first.text.slice(0, 160))})` : '';
}

/** Responses by status and code, the most frequent first. */
function summarize(replies: readonly Reply[]): string {
  const counts = new Map<string, number>();
  for (const { outcome, status, code } of replies) {
    const key = [status || outcome, code || (outcome === 'unclear' && outcome)].filter(Boolean).join(' ');
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  const sorted = [...counts].sort(([, a], [, b]) => b - a);
  return sorted.map(([key, count]) => (count === 1 ? key : `${count} × ${key}`)).join(', ');
}

const widths = [28, 4, 8, 8];

/** The header of the table. */
export const heading = line(['scenario', '', 'memory', 'slowest'], 'responses');

/** A row of the table, and its failures below it. */
export function describe(result: ScenarioResult, found: readonly string[]): string {
  const { name, replies, peakMiB } = result;
  const cells = [
    name,
    found.length === 0 ? 'ok' : 'FAIL',
    peakMiB === undefined ? '-' : `${Math.round(peakMiB)} MiB`,
    ms(slowestOf(replies)),
  ];
  return [line(cells, summarize(replies)), ...found.map((text) => `    ${text}`)].join('\n');
}

const slowestOf = (replies: readonly Reply[]): number => Math.max(0, ...replies.map(({ milliseconds }) => milliseconds));

function line(cells: readonly string[], last: string): string {
  return [...cells.map((cell, i) => (i < 2 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0))), last]
    .join('  ')
    .trimEnd();
}

const ms = (value: number): string => (value < 10_000 ? `${Math.round(value)} ms` : `${(value / 1000).toFixed(1)} s`);
