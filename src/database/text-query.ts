import pg from 'pg';

/** A row as PostgreSQL writes it: each column as text, or null. Whoever asked for the columns knows what they are. */
export type Row = readonly (string | null)[];

/** How the driver hands over a row. */
interface DataRow {
  readonly fields: Row;
}

/**
 * A statement whose rows are left as they come. The driver's own way makes a parser for each column of each answer, and of
 * each row an object, which costs several times as much as all the rest of an answer.
 */
export class TextQuery extends pg.Query {
  readonly found: Row[] = [];

  /** @param name under which connections prepare the text; none, to send it whole each time. */
  constructor(name: string | undefined, text: string, values: readonly unknown[]) {
    super(text, [...values]);
    if (name !== undefined) Object.assign(this, { name });
  }

  /** The driver tells the columns. */
  handleRowDescription(): void {}

  /** The driver hands over a row. */
  handleDataRow({ fields }: DataRow): void {
    this.found.push(fields);
  }
}
