/** Control characters, line separators, and invisible marks: those of text direction, and the byte order mark. */
export const controls = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}\ufeff]/gu;

/** Makes text safe for a terminal: tabs become two spaces, control characters and changes of text direction become �. */
export function escapeControls(text: string): string {
  return text.toWellFormed().replaceAll('\t', '  ').replace(controls, '\ufffd');
}

/** Makes text of several lines safe for a terminal: as {@link escapeControls} does, but lines stay. */
export function escapeLines(text: string): string {
  return text.split('\n').map(escapeControls).join('\n');
}

/** Makes JSON text safe for a terminal: escapes what `JSON.stringify` does not, so that the value is the same. */
export function escapeJson(json: string): string {
  return json.replace(controls, (character) => (character < ' ' ? character : toEscape(character)));
}

/**
 * Prepares a line of JSON for a program that shows the texts in it: their control characters, except line breaks and tabs, are
 * then shown as escapes.
 */
export const escapeShownJson = (json: string): string =>
  escapeJson(json).replace(/\\(.)/g, (found, next) => ('bfru'.includes(next) ? `\\${found}` : found));

const toEscape = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
