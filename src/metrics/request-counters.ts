import type { ErrorCode } from '../domain/errors.ts';
import { metricDefinitions } from './definitions.ts';
import { type Instruments, increment, observe, type SeriesValues } from './instruments.ts';

const { bounds } = metricDefinitions.requestDuration;

/** The labels of requests to paths that no route has, and of requests whose client disconnected before the response. */
const unmatched = 'unmatched';
const disconnected = 'disconnected';

/** A completed request, with labels of which there are few. */
export interface CountedRequest {
  /** The path of the route, with its parameter's name in place of the value. */
  readonly route: string | undefined;
  /** Bounded by {@link OperationNames}; empty if the route has no operations, or it is not known. */
  readonly operation: string;
  readonly status: number | undefined;
  readonly durationMs: number;
  readonly errorCodes: readonly ErrorCode[];
}

/** The series of an operation. */
interface OperationSeries {
  readonly durations: SeriesValues;
  readonly byStatus: Map<number | undefined, SeriesValues>;
}

/** Counts requests for Prometheus: three look-ups in small maps for each. */
export class RequestCounters {
  private readonly byRoute = new Map<string, Map<string, OperationSeries>>();
  private readonly instruments: Instruments;

  constructor(instruments: Instruments) {
    this.instruments = instruments;
  }

  /** Counts a completed request. */
  record({ route = unmatched, operation, status, durationMs, errorCodes }: CountedRequest): void {
    const { durations, byStatus } = this.byRoute.get(route)?.get(operation) ?? this.addOperation(route, operation);
    observe(durations, bounds, durationMs / 1_000);
    increment(byStatus.get(status) ?? this.addStatus(byStatus, route, operation, status));
    for (const code of errorCodes) increment(this.instruments.series('errors', route, code));
  }

  private addOperation(route: string, operation: string): OperationSeries {
    const series = { durations: this.instruments.series('requestDuration', route, operation), byStatus: new Map() };
    const operations = this.byRoute.get(route) ?? new Map<string, OperationSeries>();
    this.byRoute.set(route, operations.set(operation, series));
    return series;
  }

  private addStatus(
    byStatus: OperationSeries['byStatus'],
    route: string,
    operation: string,
    status: number | undefined,
  ): SeriesValues {
    const values = this.instruments.series('requests', route, operation, status === undefined ? disconnected : String(status));
    byStatus.set(status, values);
    return values;
  }
}
