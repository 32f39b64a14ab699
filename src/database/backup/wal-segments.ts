/** The digits of each of the three numbers in the name of a segment: timeline, log file, segment. */
const digits = 8;

const segmentName = /^[0-9A-F]{24}$/;

/** What a log file of 4 GiB is divided into. */
const logFileBytes = 2 ** 32;

/**
 * The names of the segments of the write-ahead log from one to another one, both included.
 *
 * @param segmentBytes the size of a segment, PostgreSQL's `wal_segment_size`.
 * @throws Error when they are not of one timeline, or not in this order.
 */
export function segmentsBetween(first: string, last: string, segmentBytes: number): string[] {
  const [from, to] = [first, last].map((name) => numberOf(name, segmentBytes)) as [number, number];
  const timeline = first.slice(0, digits);
  if (timeline !== last.slice(0, digits) || to < from) {
    throw new Error(`The write-ahead log does not lead from ${first} to ${last}. Run the backup again.`);
  }
  return Array.from({ length: to - from + 1 }, (_, index) => timeline + nameOf(from + index, segmentBytes));
}

function numberOf(name: string, segmentBytes: number): number {
  if (!segmentName.test(name)) throw new Error(`${JSON.stringify(name)} is not the name of a segment of the write-ahead log.`);
  const [logFile, segment] = [1, 2].map((part) => Number.parseInt(name.slice(part * digits, (part + 1) * digits), 16));
  return (logFile as number) * (logFileBytes / segmentBytes) + (segment as number);
}

function nameOf(number: number, segmentBytes: number): string {
  const perLogFile = logFileBytes / segmentBytes;
  const hex = (part: number) => part.toString(16).toUpperCase().padStart(digits, '0');
  return hex(Math.floor(number / perLogFile)) + hex(number % perLogFile);
}
