import type { Environment } from './rows.ts';
import type { WorkloadId } from './workloads.ts';

/** An API token to send. */
export interface Credential {
  readonly secret: string;
  readonly environment: Environment;
}

/** Makes the load generator know the groups of a database. */
interface Learn {
  readonly kind: 'learn';
  readonly database: string;
  /** Where the tokens lie side by side. */
  readonly file: string;
}

/** Asks for a measurement. */
export interface Run {
  readonly kind: 'run';
  readonly database: string;
  readonly workload: WorkloadId;
  readonly port: number;
  /** The process to watch. */
  readonly pid: number;
  /** PostgreSQL's first process, where the system tells. */
  readonly databasePid: number | undefined;
  readonly credentials: readonly Credential[];
  readonly connections: number;
  readonly warmUpMs: number;
  readonly measureMs: number;
  /** One in how many answers is parsed and compared; 0 for a server that answers the same to everything. */
  readonly sampleEvery: number;
}

/** Asks for some groups as they must be stored now. */
export interface Recall {
  readonly kind: 'recall';
  readonly database: string;
  readonly count: number;
}

/** What is asked of the load generator. */
export type Order = Learn | Run | Recall;

/** What one measurement found. */
export interface Measurement {
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** User and system time of the server's process; nothing where the system does not tell. */
  readonly cpuMicrosecondsPerRequest: number | undefined;
  /** The same of all of PostgreSQL's processes. */
  readonly databaseMicrosecondsPerRequest: number | undefined;
  /** The most memory that the server's process held during the measurement. */
  readonly rssMiB: number | undefined;
  /** How busy the load generator itself was, 0 to 1: near 1 it is what is measured. */
  readonly generatorLoad: number;
  /** How many requests were answered, those of the warm-up included, and how many answers were compared in full. */
  readonly answered: number;
  readonly compared: number;
}

/** What must be stored of a group: its token, and the number that its last update wrote; 0 for none. */
export interface Recalled {
  readonly index: number;
  readonly token: string;
  readonly revision: number;
}

/** What the load generator says back. */
export type Reply =
  | { readonly kind: 'done' }
  | { readonly kind: 'measured'; readonly measurement: Measurement }
  | { readonly kind: 'recalled'; readonly groups: readonly Recalled[] }
  | { readonly kind: 'failed'; readonly message: string };
