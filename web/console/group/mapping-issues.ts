import { Failure } from '../graphql/failure.ts';

/** A row of the table; its key stays the same while rows are added and removed. */
export interface MappingRow {
  readonly key: number;
  readonly schemaId: string;
  readonly dataSource: string;
}

const fieldNames = { schemaId: 'schema id', dataSource: 'data source' } as const;

/** What is wrong with a field of a row. */
export interface RowIssue {
  readonly key: number;
  readonly field: keyof typeof fieldNames;
  /** Names the row as the table does, from 1. */
  readonly message: string;
}

/**
 * The issues of a failure that are about fields, without those that were edited away.
 *
 * @param sent the rows that failed.
 * @param rows those of the table.
 */
export function rowIssues(failure: Failure, sent: readonly MappingRow[], rows: readonly MappingRow[]): RowIssue[] {
  return failure.issues.flatMap(({ path: [, index, field], message }) => {
    const row = sent[Number(index)];
    if (!row || (field !== 'schemaId' && field !== 'dataSource')) return [];
    const position = rows.findIndex(({ key }) => key === row.key);
    if (rows[position]?.[field] !== row[field]) return [];
    // The other one of two equal ids may have been edited.
    const countOf = (list: readonly MappingRow[]) => list.filter(({ schemaId }) => schemaId === row.schemaId).length;
    if (field === 'schemaId' && countOf(rows) !== countOf(sent)) return [];
    return [{ key: row.key, field, message: `Mapping row ${position + 1}: ${fieldNames[field]} ${message}` }];
  });
}

/** The failure as the table shows its rows; undefined if what caused it was edited away. */
export function failureOfRows(
  failure: Failure,
  issues: readonly RowIssue[],
  sent: readonly MappingRow[],
  rows: readonly MappingRow[],
): Failure | undefined {
  const isOfRows = failure.issues.some(({ path }) => path.length > 1);
  if (!isOfRows) return JSON.stringify(rows) === JSON.stringify(sent) ? failure : undefined;
  const [first, ...others] = issues.map(({ message }) => message);
  if (first === undefined) return undefined;
  const message = others.length > 0 ? 'Rows of the mapping are not valid:' : first;
  return new Failure(failure.code, message, {
    requestId: failure.requestId,
    issues: issues.map((issue) => ({ path: [], message: issue.message })),
  });
}
