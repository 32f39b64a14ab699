import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { json, jsonParseLinter } from '@codemirror/lang-json';
import { bracketMatching, foldGutter, foldKeymap, indentOnInput } from '@codemirror/language';
import { type Diagnostic, linter, lintKeymap, setDiagnostics } from '@codemirror/lint';
import { highlightSelectionMatches, searchKeymap } from '@codemirror/search';
import { Compartment, EditorState } from '@codemirror/state';
import { drawSelection, EditorView, highlightActiveLine, highlightSpecialChars, keymap, lineNumbers } from '@codemirror/view';
import { editorTheme } from './editor-theme.ts';

/** Another name for CodeMirror's type, so that only this file and the theme know the package. */
export type EditorDiagnostic = Diagnostic;

/** A part of a text to replace, in UTF-16 code units. */
export interface Edit {
  readonly from: number;
  readonly to: number;
  readonly insert: string;
}

/** An editor in the page. */
export interface Editor {
  /** The text that it has now. */
  text(): string;
  /** Starts over with another text: what was there before it cannot be brought back by undoing. */
  setText(text: string): void;
  /** Changes parts of the text, as one step that can be undone. Positions are those before any of the changes. */
  change(edits: readonly Edit[]): void;
  setDiagnostics(diagnostics: readonly EditorDiagnostic[]): void;
  /** Sets whether a person can change the text. */
  setReadOnly(isReadOnly: boolean): void;
  /** Puts the cursor at a position, and shows it. */
  goTo(position: number): void;
  destroy(): void;
}

/** What an editor starts with. */
export interface EditorOptions {
  readonly text: string;
  /** For screen readers. */
  readonly label: string;
  /** Whether to mark where the text is not JSON. */
  readonly checksSyntax?: boolean;
  /** Called after each change, also by script. The text is only made when it is asked for: it may be long. */
  readonly onChange?: (text: () => string) => void;
}

/** CodeMirror adds its styles by script, which the Content-Security-Policy allows with the nonce of the page. */
const nonce = document.querySelector<HTMLMetaElement>('meta[name=csp-nonce]')?.content ?? '';

/** An empty text is no JSON, but means that there are no properties. */
function checkSyntax(view: EditorView): readonly Diagnostic[] {
  return view.state.doc.toString().trim() === '' ? [] : jsonParseLinter()(view);
}

/** Creates an editor for JSON in an element. Tab leaves it, as it leaves any other field. */
export function createEditor(parent: HTMLElement, options: EditorOptions): Editor {
  const { text, label, checksSyntax = false, onChange } = options;
  const readOnly = new Compartment();
  const extensions = [
    EditorView.cspNonce.of(nonce),
    [lineNumbers(), foldGutter(), history(), drawSelection(), indentOnInput(), bracketMatching()],
    // Texts may have characters that are invisible, or reverse what follows.
    [highlightActiveLine(), highlightSelectionMatches(), highlightSpecialChars()],
    [json(), editorTheme, EditorView.lineWrapping, EditorState.tabSize.of(2)],
    keymap.of([...defaultKeymap, ...historyKeymap, ...searchKeymap, ...foldKeymap, ...lintKeymap]),
    EditorView.contentAttributes.of({ 'aria-label': label }),
    readOnly.of([]),
    checksSyntax ? linter(checkSyntax, { delay: 300 }) : [],
    EditorView.updateListener.of(({ docChanged, state }) => {
      if (docChanged) onChange?.(() => state.doc.toString());
    }),
  ];
  const view = new EditorView({ parent, state: EditorState.create({ doc: text, extensions }) });
  const within = (position: number) => Math.min(Math.max(position, 0), view.state.doc.length);
  const setReadOnly = (value: boolean) => view.dispatch({ effects: readOnly.reconfigure(EditorState.readOnly.of(value)) });
  return {
    text: () => view.state.doc.toString(),
    setText(next) {
      // Undoing steps from before it would mix the two texts. Another state is no update that the listener hears of.
      const { readOnly: isReadOnly } = view.state;
      view.setState(EditorState.create({ doc: next, extensions }));
      setReadOnly(isReadOnly);
      onChange?.(() => view.state.doc.toString());
    },
    change: (edits) => view.dispatch({ changes: [...edits] }),
    setDiagnostics: (diagnostics) => view.dispatch(setDiagnostics(view.state, [...diagnostics])),
    setReadOnly,
    goTo(position) {
      const at = within(position);
      view.dispatch({ selection: { anchor: at }, effects: EditorView.scrollIntoView(at, { y: 'center' }) });
      view.focus();
    },
    destroy: () => view.destroy(),
  };
}
