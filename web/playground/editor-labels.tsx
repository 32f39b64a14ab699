import { useEffect } from 'react';

/** What screen readers call the editors, by their classes. */
const labels: Readonly<Record<string, string>> = {
  'graphiql-query-editor': 'Document',
  'graphiql-editor-tool': 'Variables or headers',
  'result-window': 'Response',
};

/** The element of an editor, with the editor itself as CodeMirror leaves it there. */
type EditorElement = HTMLElement & { readonly CodeMirror?: { setOption(name: 'screenReaderLabel', value: string): void } };

/** Names the editors of GraphiQL for screen readers, as soon as each is created. Renders nothing. */
export function EditorLabels() {
  useEffect(() => {
    const named = new WeakSet<Element>();
    const nameEditors = (): void => {
      for (const element of document.querySelectorAll<EditorElement>('.CodeMirror')) {
        if (named.has(element) || !element.CodeMirror) continue;
        const place = Object.keys(labels).find((name) => element.closest(`.${name}`));
        element.CodeMirror.setOption('screenReaderLabel', (place && labels[place]) ?? 'Editor');
        named.add(element);
      }
    };
    const observer = new MutationObserver(nameEditors);
    observer.observe(document.body, { childList: true, subtree: true });
    nameEditors();
    return () => observer.disconnect();
  }, []);
  return null;
}
