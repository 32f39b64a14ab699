import pg from 'pg';

/** A row as PostgreSQL writes it: each column as text, or null. Whoever asked for the columns knows what they are. */
export type Row = readonly (string | null)[];

/** How the driver hands over a row. */
interface DataRow {
  readonly fields: Row;
}

/**
 * A statement whose rows are left as they come. The driver's own way looks up a parser for each column of each answer and
 * makes an object of each row, which costs more than all else about an answer. The two methods take the
 * place of the driver's own; its types do not know them, so its version is exact, and every test of a look-up tests this too.
 */
export class TextQuery extends pg.Query {
  readonly found: Row[] = [];

  /** @param name under which connections prepare the text; none, to send it whole each time. */
  constructor(name: string | undefined, text: string, values: readonly unknown[]) {
    super({ ...(name !== undefined && { name }), text, values: [...values] });
  }

  /** The driver tells the columns. */
  handleRowDescription(): void {}

  /** The driver hands over a row. */
  handleDataRow({ fields }: DataRow): void {
    this.found.push(fields);
  }
}

/** Reads a `timestamptz` column. */
export const decodeTime: (text: string) => Date = pg.types.getTypeParser(pg.types.builtins.TIMESTAMPTZ);
