/** A JSON text that a person wrote, sent as it is: parsing it here would change numbers and drop duplicates that the gateway rejects. */
export class RawJson {
  readonly text: string;

  /** @throws SyntaxError when the text is not JSON. */
  constructor(text: string) {
    JSON.parse(text);
    this.text = text;
  }
}

/** A number that is read, and its text if JavaScript would change it, such as 9007199254740993 or 1.0. */
function exactly(_: string, value: unknown, context?: { readonly source?: string }): unknown {
  const source = context?.source;
  return typeof value === 'number' && source !== undefined && String(value) !== source ? new RawJson(source) : value;
}

/**
 * Reads JSON, with a {@link RawJson} for every number that JavaScript cannot represent as it is written, so that {@link stringify} writes the
 * same number. Browsers from before 2025 may not be able to: there it is rounded.
 *
 * @throws SyntaxError when the text is not JSON.
 */
export function parseExactly(text: string): unknown {
  return JSON.parse(text, exactly);
}

/**
 * A value as JSON, with the text of every {@link RawJson} in it as it is.
 *
 * @param indent the number of spaces for each level; by default the text has no white space.
 */
export function stringify(value: unknown, indent?: number): string {
  const texts = new Map<string, string>();
  const prefix = `raw-${Math.random().toString(36).slice(2)}-`;
  const json = JSON.stringify(
    value,
    (_, member) => {
      if (!(member instanceof RawJson)) return member;
      const marker = `${prefix}${texts.size}`;
      texts.set(marker, member.text);
      return marker;
    },
    indent,
  );
  if (texts.size === 0) return json;
  // In one pass, because there may be thousands.
  return json.replace(new RegExp(`"(${prefix}\\d+)"`, 'g'), (whole, marker) => texts.get(marker) ?? whole);
}
