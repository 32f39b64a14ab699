import { httpTimeouts } from '../../http-limits.ts';
import type { DocsConfig } from '../schema/definition.ts';
import { type Report, type ValidateOptions, validateDocsConfig } from '../validate.ts';
import { createWorkerPool, type JobOptions, type WorkerPool, workerModule } from './worker-pool.ts';

/** The maximum number of characters, of documents and file paths, that one turn of the event loop checks inline. */
export const maxInlineCharacters = 65_536;

/** The job of a thread: the documents, and the options as JSON. */
export interface CheckJob {
  readonly sources: readonly string[];
  readonly options: string;
}

/** The result of a thread for each document: the report and the normalized document, each as JSON. */
export interface CheckedText {
  /** A {@link Report} without its `config`. */
  readonly report: string;
  readonly config: string | null;
}

/** Checks documents, off the event loop when they are long. */
export interface DocumentChecker {
  /**
   * The reports, in the order of the texts. A text that occurs several times is checked once.
   *
   * @throws GatewayError `UNAVAILABLE` when too many long documents are queued or the check takes too long, `PAYLOAD_TOO_LARGE`
   *   when it needs more memory than a thread has, `INTERNAL` when the thread fails.
   */
  check(
    sources: readonly string[],
    options: ValidateOptions,
    context?: CheckContext,
  ): readonly Report[] | Promise<readonly Report[]>;
  /** Ends the thread, which would keep the process alive until its check is done. Checks that are not done are `UNAVAILABLE`. */
  close(): Promise<void>;
}

/** On whose behalf a check runs, and whether its result is still needed. */
export type CheckContext = Omit<JobOptions, 'characters'>;

/** Creates a checker. Short documents, those of one turn of the event loop taken together, are checked inline. */
export function createDocumentChecker(pool: WorkerPool<CheckJob, readonly CheckedText[]>): DocumentChecker {
  let inlineCharacters = 0;
  return {
    check(sources, options, context) {
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
      return pool.run(job, { ...context, characters }).then((checked) => reportsOf(checked.map(readChecked)));
    },
    close: () => pool.close(),
  };
}

function total(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + text.length, 0);
}

/** A report whose normalized document is parsed on first access: it can be as long as the document. */
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
 * The checker of this process, on one thread: a second one would exceed the memory budget. It starts with the first long
 * document and ends after 5 s without one, because it keeps up to 100 MB.
 */
export const documentChecker = createDocumentChecker(
  createWorkerPool({
    module: workerModule(),
    maxQueuedJobs: 64,
    maxQueuedCharacters: 4_400_000, // a quarter of it holds one request body, so one caller cannot block another
    maxWaitMs: httpTimeouts.responseMs,
    jobTimeoutMs: 10_000,
    idleMs: 5_000,
    maxHeapMb: 96,
    maxYoungHeapMb: 8,
  }),
);
