import { useEditorContext } from '@graphiql/react';
import { GraphiQL } from 'graphiql';
import { type SyntheticEvent, useEffect, useMemo, useRef, useState } from 'react';
import { tokenPrefixes } from '../../src/token-prefixes.ts';
import { endsSession, listenToTabs } from '../shared-session.ts';
import { storedApiToken } from '../tab-storage.ts';
import { createFetcher } from './fetcher.ts';
import { openDocuments, PlaygroundStorage, storeDocuments } from './session.ts';
import { TabResponses } from './tab-responses.ts';
import { ReadVariables } from './variables-text.ts';

const documents = openDocuments();
const storage = new PlaygroundStorage();
const responses = new TabResponses();

/** GraphiQL with a field for the API token. Documents and the API token survive a reload, and are forgotten with the tab. */
export function Playground() {
  const [token, setToken] = useState(() => storedApiToken.read() ?? '');
  const current = useRef(token);
  const variablesText = useRef(() => '');
  const fetcher = useMemo(() => createFetcher(() => current.current, variablesText, responses), []);

  const change = (value: string): void => {
    const trimmed = value.trim();
    current.current = trimmed;
    if (trimmed) storedApiToken.write(trimmed);
    else storedApiToken.remove();
    setToken(trimmed);
  };
  useEffect(() =>
    listenToTabs((message) => {
      if (endsSession(message, token)) change('');
    }),
  );

  return (
    <>
      <h1 className="visually-hidden">Playground</h1>
      <form className="token" autoComplete="off" onSubmit={(event) => event.preventDefault()}>
        <label htmlFor="token">API token</label>
        <input
          id="token"
          type="password"
          value={token}
          placeholder={`${tokenPrefixes.apiToken}…`}
          autoComplete="off"
          spellCheck={false}
          aria-describedby="token-note"
          onChange={(event) => change(event.target.value)}
        />
        <span id="token-note">{token ? 'Kept until this tab is closed' : 'Without one only the schema can be read'}</span>
        {token && (
          <button type="button" onClick={() => change('')}>
            Forget
          </button>
        )}
      </form>
      <div
        className="graphiql"
        onKeyDownCapture={(event) => {
          // A key that is held, or a double click, must not execute a mutation again.
          const isShortcut = event.key === 'Enter' && (event.ctrlKey || event.metaKey);
          const isClick = [' ', 'Enter'].includes(event.key) && (event.target as Element).closest('button, [role=menu]');
          // It loses the directives of fragments' spreads: what @skip leaves out would be executed.
          const isMerge = event.ctrlKey && event.shiftKey && (event.key.toLowerCase() === 'm' || event.code === 'KeyM');
          if ((event.repeat && (isShortcut || isClick)) || isMerge) ignore(event);
        }}
        onClickCapture={(event) => {
          if (event.detail > 1 && (event.target as Element).closest('.graphiql-execute-button')) ignore(event);
        }}
      >
        <GraphiQL
          fetcher={fetcher}
          storage={storage}
          defaultTabs={[...documents.tabs]}
          onTabChange={storeDocuments}
          defaultEditorToolsVisibility="variables"
          shouldPersistHeaders={false}
          forcedTheme="system"
          inputValueDeprecation
        >
          <GraphiQL.Logo>
            <Editors />
            <ReadVariables text={variablesText} />
          </GraphiQL.Logo>
          <GraphiQL.Toolbar>
            {({ prettify, copy }) => (
              <>
                {prettify}
                {copy}
              </>
            )}
          </GraphiQL.Toolbar>
        </GraphiQL>
      </div>
    </>
  );
}

function ignore(event: SyntheticEvent): void {
  event.stopPropagation();
  event.preventDefault();
}

/**
 * Shows the tab of before a reload, and responses, keeps the tabs apart, asks before headers are lost, and names the editors for
 * screen readers. Shows nothing itself.
 */
function Editors() {
  const context = useEditorContext({ nonNull: true });
  const { tabs, queryEditor, variableEditor, headerEditor, responseEditor, changeTab, updateActiveTabValues } = context;
  const tab = tabs[context.activeTabIndex]?.id;
  const shown = useRef({ tab, tabs: tabs.length });
  useEffect(() => {
    const { tab: former, tabs: count } = shown.current;
    shown.current = { tab, tabs: tabs.length };
    const index = tabs.findIndex(({ id }) => id === former);
    // When a tab is closed that is not shown, GraphiQL may show another one, whose operation the next click would execute.
    if (tabs.length < count && tab !== former && index >= 0) changeTab(index);
  });
  const hasHeaders = tabs.some(({ headers }) => headers?.trim());
  useEffect(() => {
    if (!hasHeaders) return;
    // A reload forgets them: the next operation would be executed with the API token on top instead of theirs.
    const ask = (event: Event) => event.preventDefault();
    addEventListener('beforeunload', ask);
    return () => removeEventListener('beforeunload', ask);
  }, [hasHeaders]);
  const isReady = useRef(false);
  // All tabs share the editors: undo would bring the text of another one, and its selected operation would count here.
  // biome-ignore lint/correctness/useExhaustiveDependencies: when another tab is opened
  useEffect(() => {
    for (const editor of [queryEditor, variableEditor, headerEditor]) editor?.clearHistory();
    if (queryEditor) Object.assign(queryEditor, { operations: null, operationName: null });
  }, [tab, queryEditor, variableEditor, headerEditor]);
  useEffect(() => {
    queryEditor?.setOption('screenReaderLabel', 'Document');
    variableEditor?.setOption('screenReaderLabel', 'Variables');
    headerEditor?.setOption('screenReaderLabel', 'Headers');
    responseEditor?.setOption('screenReaderLabel', 'Response');
    if (tab && responseEditor) {
      responses.open(tab, (response) => {
        responseEditor.setValue(response);
        updateActiveTabValues({ response });
      });
    }
    if (isReady.current || !queryEditor || !variableEditor) return;
    isReady.current = true;
    changeTab(documents.activeTabIndex);
  });
  return null;
}
