import { httpLimits } from '../http-limits.ts';

/** What the system lets a process have open, and what a gateway may need. */
export interface OpenFiles {
  /** Files and connections together; `unlimited`, or undefined where the system has no such limit. */
  readonly limit: number | 'unlimited' | undefined;
  /** Enough for every connection that a gateway accepts, those to the database, and the files that Node.js has open. */
  readonly needed: number;
  /** Why the limit is too low, and what to do, as sentences; undefined if it is not. */
  readonly problem: { readonly found: string; readonly remedy: string } | undefined;
}

/** What Node.js itself has open, with much to spare: a gateway without connections has about 30. */
const ownFiles = 100;

/**
 * Compares the system's limit of open files with what a gateway may need. Above the limit connections are closed at once, and no
 * statement can get a connection to the database.
 *
 * @param poolSize the most connections to the database.
 * @param limit that of this process by default.
 */
export function compareOpenFiles(poolSize: number, limit: OpenFiles['limit'] = readLimit()): OpenFiles {
  const needed = httpLimits.maxConnections + poolSize + ownFiles;
  if (limit === undefined || limit === 'unlimited' || limit >= needed) return { limit, needed, problem: undefined };
  const found = `the system lets a process have ${limit} open files, and a gateway may need ${needed}: further connections are closed`;
  const remedy = `Raise the limit to ${needed}: ulimit -n, LimitNOFILE of systemd, or --ulimit nofile of Docker.`;
  return { limit, needed, problem: { found, remedy } };
}

/** The limit of this process. Node.js raises its own to what the system permits at most. */
function readLimit(): OpenFiles['limit'] {
  const report: NodeJS.ProcessReport & { excludeNetwork?: boolean } = process.report;
  const { excludeNetwork = false } = report;
  report.excludeNetwork = true; // looks up the name of each peer, which takes seconds
  try {
    const { userLimits } = report.getReport() as { userLimits?: { open_files?: { soft?: number | 'unlimited' } } };
    return userLimits?.open_files?.soft;
  } finally {
    report.excludeNetwork = excludeNetwork;
  }
}
