/**
 * Corrects what GraphiQL leaves undone for keyboards and screen readers, whenever it renders something:
 *
 * - editors have no name, and the part of each that scrolls cannot be reached by keyboard;
 * - a tab is an interactive element inside of another one: it becomes an item of a list with two buttons.
 *
 * @returns a function that ends it.
 */
export function correctAccessibility(): () => void {
  const correct = (): void => {
    for (const editor of document.querySelectorAll<EditorElement>('.CodeMirror')) nameEditor(editor);
    for (const list of document.querySelectorAll('.graphiql-tabs'))
      setAttributes(list, { role: 'list', 'aria-label': 'Documents' });
    for (const tab of document.querySelectorAll('.graphiql-tab')) correctTab(tab);
  };
  const observer = new MutationObserver(correct);
  observer.observe(document.body, { childList: true, subtree: true, attributeFilter: ['class', 'role', 'aria-selected'] });
  correct();
  return () => observer.disconnect();
}

/** The element of an editor, with the editor itself as CodeMirror leaves it there. */
type EditorElement = HTMLElement & { readonly CodeMirror?: { setOption(name: 'screenReaderLabel', value: string): void } };

/** The names of the editors, by the class of the element around each. */
const editorNames: Readonly<Record<string, string>> = {
  'graphiql-query-editor': 'Document',
  'graphiql-editor-tool': 'Variables or headers',
  'result-window': 'Response',
};

const namedEditors = new WeakSet<Element>();

function nameEditor(element: EditorElement): void {
  if (!element.CodeMirror || namedEditors.has(element)) return;
  namedEditors.add(element);
  const place = Object.keys(editorNames).find((name) => element.closest(`.${name}`));
  const name = (place && editorNames[place]) ?? 'Editor';
  element.CodeMirror.setOption('screenReaderLabel', name);
  const scroller = element.querySelector('.CodeMirror-scroll');
  if (scroller) setAttributes(scroller, { tabindex: '0', role: 'group', 'aria-label': `${name}, scrollable` });
}

function correctTab(tab: Element): void {
  setAttributes(tab, { role: 'listitem' });
  tab.removeAttribute('aria-selected');
  const button = tab.querySelector('.graphiql-tab-button');
  if (button) setAttributes(button, { 'aria-current': String(tab.classList.contains('graphiql-tab-active')) });
}

/** Sets attributes that differ: setting an equal one would call the observer again, without end. */
function setAttributes(element: Element, attributes: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (element.getAttribute(name) !== value) element.setAttribute(name, value);
  }
}
