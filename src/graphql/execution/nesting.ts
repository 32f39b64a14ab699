/**
 * Whether the brackets of a GraphQL document are nested deeper than `limit`, strings and comments left out. Linear, and without
 * recursion, unlike the parser, which a deeper document would overflow.
 */
export function isNestedDeeperThan(source: string, limit: number): boolean {
  let depth = 0;
  for (let at = 0; at < source.length; at += 1) {
    switch (source.charCodeAt(at)) {
      case 0x28: // (
      case 0x5b: // [
      case 0x7b: // {
        depth += 1;
        if (depth > limit) return true;
        break;
      case 0x29: // )
      case 0x5d: // ]
      case 0x7d: // }
        depth -= 1;
        break;
      case 0x22: // "
        at = endOfString(source, at);
        break;
      case 0x23: // #
        at = endOfLine(source, at);
        break;
    }
  }
  return false;
}

/** The position of the last character of the string that begins at `start`; of the document where the string is not closed. */
function endOfString(source: string, start: number): number {
  if (source.startsWith('"""', start)) {
    for (let end = source.indexOf('"""', start + 3); end >= 0; end = source.indexOf('"""', end + 3)) {
      if (source[end - 1] !== '\\') return end + 2;
    }
    return source.length;
  }
  for (let at = start + 1; at < source.length; at += 1) {
    const character = source[at];
    if (character === '\\') at += 1;
    else if (character === '"' || character === '\n' || character === '\r') return at;
  }
  return source.length;
}

function endOfLine(source: string, start: number): number {
  let at = start;
  while (at < source.length && source[at] !== '\n' && source[at] !== '\r') at += 1;
  return at;
}
