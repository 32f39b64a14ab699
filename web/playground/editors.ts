import { useEditorContext } from '@graphiql/react';
import { type RefObject, useEffect, useRef } from 'react';
import type { TabResponses } from './tab-responses.ts';

type Context = ReturnType<typeof useEditorContext> & {};

/** A function that returns the text of the variables of the tab that is shown. */
export type VariablesText = RefObject<() => string>;

interface EditorsProps {
  readonly activeTab: number;
  readonly responses: TabResponses;
  readonly variablesText: VariablesText;
}

/**
 * What GraphiQL's tabs and editors lack. Shows nothing itself.
 *
 * @param activeTab the index of the tab to begin with.
 */
export function Editors({ activeTab, responses, variablesText }: EditorsProps): null {
  const context = useEditorContext({ nonNull: true });
  useShownTab(context, responses);
  useOwnHistories(context);
  useLabels(context);
  useFirstTab(context, activeTab);
  useHeaderGuard(context);
  useVariablesText(context, variablesText);
  return null;
}

/** Whether a key executes the operation. */
export const isShortcut = ({ key, ctrlKey, metaKey }: { key: string; ctrlKey: boolean; metaKey: boolean }): boolean =>
  key === 'Enter' && (ctrlKey || metaKey);

const tabOf = ({ tabs, activeTabIndex }: Context) => tabs[activeTabIndex]?.id ?? '';

/**
 * Shows the responses of the tab that is open. When a tab is closed that is not shown, GraphiQL may open another one, whose
 * operation the next click would execute.
 */
function useShownTab(context: Context, responses: TabResponses): void {
  const { tabs, changeTab, responseEditor, updateActiveTabValues } = context;
  const tab = tabOf(context);
  const shown = useRef({ tab, count: tabs.length });
  useEffect(() => {
    const former = shown.current;
    shown.current = { tab, count: tabs.length };
    const ids = tabs.map(({ id }) => id);
    if (ids.length < former.count && tab !== former.tab && ids.includes(former.tab)) return changeTab(ids.indexOf(former.tab));
    if (tab === '' || !responseEditor) return;
    responses.open(tab, ids, (response) => {
      responseEditor.setValue(response);
      updateActiveTabValues({ response });
    });
  });
}

/** All tabs share the editors: undo would bring the text of another one, and its selected operation would count here. */
function useOwnHistories(context: Context): void {
  const { queryEditor, variableEditor, headerEditor } = context;
  const tab = tabOf(context);
  // biome-ignore lint/correctness/useExhaustiveDependencies: when another tab is opened
  useEffect(() => {
    for (const editor of [queryEditor, variableEditor, headerEditor]) editor?.clearHistory();
    if (queryEditor) Object.assign(queryEditor, { operations: null, operationName: null });
  }, [tab, queryEditor, variableEditor, headerEditor]);
}

/** Names the editors for screen readers. */
function useLabels({ queryEditor, variableEditor, headerEditor, responseEditor }: Context): void {
  useEffect(() => {
    queryEditor?.setOption('screenReaderLabel', 'Document');
    variableEditor?.setOption('screenReaderLabel', 'Variables');
    headerEditor?.setOption('screenReaderLabel', 'Headers');
    responseEditor?.setOption('screenReaderLabel', 'Response');
  }, [queryEditor, variableEditor, headerEditor, responseEditor]);
}

/** Opens a tab when the editors are there. */
function useFirstTab({ queryEditor, variableEditor, changeTab }: Context, index: number): void {
  const isReady = useRef(false);
  useEffect(() => {
    if (isReady.current || !queryEditor || !variableEditor) return;
    isReady.current = true;
    changeTab(index);
  });
}

/** A reload forgets headers: the next operation would be executed with the API token on top instead of theirs. */
function useHeaderGuard({ tabs }: Context): void {
  const hasHeaders = tabs.some(({ headers }) => headers?.trim());
  useEffect(() => {
    if (!hasHeaders) return;
    const ask = (event: Event) => event.preventDefault();
    addEventListener('beforeunload', ask);
    return () => removeEventListener('beforeunload', ask);
  }, [hasHeaders]);
}

/** A fetcher gets only what `JSON.parse` has made of the variables: this has their text. */
function useVariablesText({ variableEditor }: Context, text: VariablesText): void {
  useEffect(() => {
    text.current = () => variableEditor?.getValue() ?? '';
  }, [text, variableEditor]);
}
