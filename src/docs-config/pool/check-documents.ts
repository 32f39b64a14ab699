import { httpTimeouts } from '../../http-limits.ts';
import type { DocsConfig } from '../schema/definition.ts';
import { type Report, type ValidateOptions, validateDocsConfig } from '../validate.ts';
import { createWorkerPool, type JobOptions, type WorkerPool, workerModule } from './worker-pool.ts';

/** The maximum number of characters, of documents and file paths, that one turn of the event loop checks inline. */
export const maxInlineCharacters = 65_536;

/** The job of a thread: a document, and the options as JSON. */
export interface CheckJob {
  readonly source: string;
  readonly options: string;
}

/** The result of a thread: the report and the normalized document, each as JSON. */
export interface CheckedText {
  /** A {@link Report} without its `config`. */
  readonly report: string;
  readonly config: string | null;
}

/** Checks documents, off the event loop when they are long. */
export interface DocumentChecker {
  /**
   * @throws GatewayError `UNAVAILABLE` when too many long documents are queued or the check takes too long, `PAYLOAD_TOO_LARGE`
   *   when it needs more memory than a thread has, `INTERNAL` when the thread fails.
   */
  check(source: string, options: ValidateOptions, context?: CheckContext): Report | Promise<Report>;
  /** Ends the thread, which would keep the process alive until its check is done. Checks that are not done are `UNAVAILABLE`. */
  close(): Promise<void>;
}

/** On whose behalf a check runs, and whether its result is still needed. */
export type CheckContext = Omit<JobOptions, 'characters'>;

/** Creates a checker. Short documents, those of one turn of the event loop taken together, are checked inline. */
export function createDocumentChecker(pool: WorkerPool<CheckJob, CheckedText>): DocumentChecker {
  let inlineCharacters = 0;
  return {
    check(source, options, context) {
      const characters = (options.files ?? []).reduce((sum, file) => sum + file.length, source.length);
      if (inlineCharacters + characters <= maxInlineCharacters) {
        if (inlineCharacters === 0) {
          setImmediate(() => {
            inlineCharacters = 0;
          });
        }
        inlineCharacters += characters;
        return validateDocsConfig(source, options);
      }
      return pool.run({ source, options: JSON.stringify(options) }, { ...context, characters }).then(readChecked);
    },
    close: () => pool.close(),
  };
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
