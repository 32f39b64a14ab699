import type { DocsConfig } from '../docs-config/schema/definition.ts';
import { type Report, type ValidateOptions, validateDocsConfig } from '../docs-config/validate.ts';
import { workerEntry } from './worker-entry.ts';
import { createWorkerPool, type JobOptions, type WorkerPool } from './worker-pool.ts';

/** The most characters, of documents and of the paths of files, that one turn of the event loop checks itself. */
export const maxInlineCharacters = 65_536;

/** What a thread is given: the documents, and the options as JSON. */
export interface CheckJob {
  readonly sources: readonly string[];
  readonly options: string;
}

/** What a thread answers for each document: the report and the normalized document, each as JSON, read when they are asked for. */
export interface CheckedText {
  /** A {@link Report} without its `config`. */
  readonly report: string;
  readonly config: string | null;
}

/** Checks documents, off the event loop when they are long. */
export interface DocumentChecker {
  /**
   * The reports, in the order of the texts. A text that is there several times is checked once.
   *
   * @throws GatewayError `UNAVAILABLE` when too many long documents wait already or checking takes too long, `PAYLOAD_TOO_LARGE`
   * when it takes more memory than it may, `INTERNAL` when it breaks off.
   */
  check(sources: readonly string[], options: ValidateOptions, asker?: Asker): readonly Report[] | Promise<readonly Report[]>;
}

/** Who asks for a check: whose share of the threads it takes, and whether they still wait for it. */
export type Asker = Omit<JobOptions, 'characters'>;

/** Makes a checker. Short documents, those of one turn of the event loop taken together, are checked at once. */
export function createDocumentChecker(pool: WorkerPool<CheckJob, readonly CheckedText[]>): DocumentChecker {
  let inlineCharacters = 0;
  return {
    check(sources, options, asker) {
      const distinct = [...new Set(sources)];
      const characters = total(distinct) + total(options.files ?? []);
      const reportsOf = (reports: readonly Report[]) => {
        const bySource = new Map(distinct.map((source, index) => [source, reports[index] as Report]));
        return sources.map((source) => bySource.get(source) as Report);
      };
      if (inlineCharacters + characters <= maxInlineCharacters) {
        if (inlineCharacters === 0) {
          setImmediate(() => {
            inlineCharacters = 0;
          });
        }
        inlineCharacters += characters;
        return reportsOf(distinct.map((source) => validateDocsConfig(source, options)));
      }
      const job = { sources: distinct, options: JSON.stringify(options) };
      return pool.run(job, { ...asker, characters }).then((checked) => reportsOf(checked.map(readChecked)));
    },
  };
}

function total(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + text.length, 0);
}

/** A report whose normalized document is read when it is first asked for: it can be as long as the document. */
function readChecked({ report, config }: CheckedText): Report {
  let read: DocsConfig | null | undefined;
  return {
    ...(JSON.parse(report) as Omit<Report, 'config'>),
    get config() {
      read ??= config === null ? null : (JSON.parse(config) as DocsConfig);
      return read;
    },
  };
}

/**
 * The checker of this process, on one thread: a second one would take more memory than there is for it. It starts with the first
 * long document and ends after 30 s without one; nothing has to be closed.
 */
export const documentChecker = createDocumentChecker(
  createWorkerPool({
    entry: workerEntry(),
    maxThreads: 1,
    maxQueuedJobs: 64,
    maxQueuedCharacters: 4_400_000, // so that beside three quarters of one share a body's worth of another fits
    maxWaitMs: 12_000, // no request waits longer for its response
    jobTimeoutMs: 10_000,
    idleMs: 30_000,
    maxHeapMb: 96,
    maxYoungHeapMb: 8,
  }),
);
