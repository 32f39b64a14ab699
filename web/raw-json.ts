/**
 * A JSON text that a person wrote, sent as it is: parsing it here would change numbers and drop duplicates that the gateway
 * rejects.
 */
export class RawJson {
  /** The text; halves of characters as escapes. */
  readonly text: string;

  /** @throws SyntaxError when the text is not JSON. */
  constructor(text: string) {
    JSON.parse(text);
    // Half of a character cannot be sent in UTF-8: it would become another one.
    this.text = text.replace(/\p{Surrogate}/gu, (half) => `\\u${half.charCodeAt(0).toString(16)}`);
  }
}

/** A JSON text without the white space around its tokens, otherwise as it is. */
export function withoutSpace(text: string): string {
  let isInString = false;
  return text.replace(/\\.|"|\s+/g, (part) => {
    if (part === '"') isInString = !isInString;
    return isInString || part === '"' ? part : '';
  });
}

/** A value as JSON, with the text of every {@link RawJson} in it as it is. */
export function stringify(value: unknown): string {
  const texts = new Map<string, string>();
  const prefix = `raw-${Math.random().toString(36).slice(2)}-`;
  const json = JSON.stringify(value, (_, member) => {
    if (!(member instanceof RawJson)) return member;
    const marker = `${prefix}${texts.size}`;
    texts.set(JSON.stringify(marker), member.text);
    return marker;
  });
  let result = json;
  for (const [marker, text] of texts) result = result.replace(marker, () => text);
  return result;
}
