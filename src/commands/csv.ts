/**
 * Splits a record of CSV (RFC 4180) into its fields: separated by commas, those in quotes with `""` for a quote. Linear in the
 * length of the text.
 *
 * @param maxFields parsing stops after one more.
 * @returns the fields, or why it is not a record, as the end of a sentence.
 */
export function parseCsvRecord(
  text: string,
  maxFields: number,
): { readonly fields: readonly string[]; readonly problem: string | undefined } {
  const fields: string[] = [];
  const rejected = (problem: string) => ({ fields: [], problem });
  for (let at = 0; ; at += 1) {
    if (fields.length === maxFields) return rejected(`has more than ${maxFields} fields.`);
    const field = text[at] === '"' ? quotedField(text, at) : plainField(text, at);
    const number = fields.length + 1;
    if (field.end < 0) return rejected(`has a quote in field ${number} that is not closed.`);
    if (field.end < text.length && text[field.end] !== ',')
      return rejected(`has text after the closing quote of field ${number}. A quote within a field is written twice.`);
    if (field.hasQuote) return rejected(`has a quote in field ${number}, which must then be in quotes itself.`);
    if (field.hasCarriageReturn)
      return rejected(`has a carriage return in field ${number}, which must then be in quotes. Lines end with LF or CR LF.`);
    fields.push(field.value);
    at = field.end;
    if (at >= text.length) return { fields, problem: undefined };
  }
}

interface Field {
  readonly value: string;
  /** The position after the field; -1 when it does not end. */
  readonly end: number;
  /** Whether it has a quote although it is not in quotes. */
  readonly hasQuote: boolean;
  /** Whether it has a carriage return although it is not in quotes: another program would read two records. */
  readonly hasCarriageReturn: boolean;
}

function plainField(text: string, start: number): Field {
  const comma = text.indexOf(',', start);
  const end = comma < 0 ? text.length : comma;
  const value = text.slice(start, end);
  return { value, end, hasQuote: value.includes('"'), hasCarriageReturn: value.includes('\r') };
}

const inQuotes = { hasQuote: false, hasCarriageReturn: false } as const;

function quotedField(text: string, start: number): Field {
  let value = '';
  for (let from = start + 1; ; ) {
    const quote = text.indexOf('"', from);
    if (quote < 0) return { value, end: -1, ...inQuotes };
    if (text[quote + 1] !== '"') return { value: value + text.slice(from, quote), end: quote + 1, ...inQuotes };
    value += text.slice(from, quote + 1);
    from = quote + 2;
  }
}

/** A record of CSV with the line break that ends it, CR LF as RFC 4180 has it. */
export function toCsvRecord(fields: readonly string[]): string {
  return `${fields.map(quoteIfNeeded).join(',')}\r\n`;
}

const quoteIfNeeded = (field: string): string => (/[",\r\n]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field);
