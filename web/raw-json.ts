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

/** The text with an indentation of 2, otherwise as it is: with duplicates, and its own numbers. Undefined if it is not JSON. */
export function format(text: string): string | undefined {
  try {
    JSON.parse(text);
    return indent(withoutSpace(text));
  } catch {
    return undefined;
  }
}

function indent(json: string): string {
  let depth = 0;
  let isInString = false;
  const newLine = () => `\n${'  '.repeat(depth)}`;
  return json.replace(/\\.|"|\{\}|\[\]|[{}[\],:]/g, (part) => {
    if (part === '"') isInString = !isInString;
    if (isInString) return part;
    if (part === '{' || part === '[') {
      depth += 1;
      return part + newLine();
    }
    if (part === '}' || part === ']') {
      depth -= 1;
      return newLine() + part;
    }
    if (part === ',') return part + newLine();
    return part === ':' ? ': ' : part;
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
