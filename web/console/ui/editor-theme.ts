import { HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import type { Extension } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { tags } from '@lezer/highlight';

/** No images: those of the default theme are data: URLs, which the Content-Security-Policy does not allow. */
const squiggle = (color: string) => ({
  backgroundImage: 'none',
  textDecoration: `underline wavy ${color}`,
  textDecorationSkipInk: 'none',
  textUnderlineOffset: '3px',
});

const theme = EditorView.theme({
  '&': { color: 'var(--text)', backgroundColor: 'var(--surface)', fontSize: '0.8125rem', height: '100%' },
  '&.cm-focused': { outline: '2px solid var(--accent)', outlineOffset: '-1px' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.55', overflow: 'auto' },
  '.cm-content': { caretColor: 'var(--text)' },
  '.cm-content[aria-readonly]': { backgroundColor: 'var(--panel)' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '.cm-gutters': { color: 'var(--muted)', backgroundColor: 'var(--panel)', borderRight: '1px solid var(--border)' },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'var(--hover)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'var(--selection)',
  },
  '.cm-tooltip, .cm-panels': { color: 'var(--text)', backgroundColor: 'var(--surface)', borderColor: 'var(--border)' },
  '.cm-diagnostic': { whiteSpace: 'pre-wrap', maxWidth: '32rem', padding: '6px 10px' },
  '.cm-diagnosticAction': { color: 'var(--on-accent)', backgroundColor: 'var(--accent)' },
  '.cm-lintRange-error': squiggle('var(--wrong)'),
  '.cm-lintRange-warning': squiggle('var(--warn)'),
  '.cm-lintRange-active': { backgroundColor: 'var(--selection)' },
  '.cm-matchingBracket': { backgroundColor: 'var(--selection) !important' },
});

const highlighting = HighlightStyle.define([
  { tag: tags.propertyName, color: 'var(--code-name)' },
  { tag: tags.string, color: 'var(--code-string)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--code-value)' },
]);

/** The colors of the editor: those of the page, in light and dark. */
export const editorTheme: Extension = [theme, syntaxHighlighting(highlighting)];
