import { GraphiQL } from 'graphiql';
import { type SyntheticEvent, useEffect, useMemo, useRef, useState } from 'react';
import { tokenPrefixes } from '../../src/token-prefixes.ts';
import { endsSession, listenToTabs } from '../shared-session.ts';
import { storedApiToken } from '../tab-storage.ts';
import { Editors, isShortcut } from './editors.ts';
import { createFetcher } from './fetcher.ts';
import { openDocuments, PlaygroundStorage, storeDocuments } from './session.ts';
import { TabResponses } from './tab-responses.ts';

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
          const isClick = [' ', 'Enter'].includes(event.key) && (event.target as Element).closest('button, [role=menu]');
          if (event.repeat && (isShortcut(event) || isClick)) ignore(event);
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
          confirmCloseTab={(index) =>
            !responses.isWaiting(index) || confirm('The response of this tab has not been shown. Close it all the same?')
          }
          defaultEditorToolsVisibility="variables"
          shouldPersistHeaders={false}
          forcedTheme="system"
          inputValueDeprecation
        >
          <GraphiQL.Logo>
            <Editors activeTab={documents.activeTabIndex} responses={responses} variablesText={variablesText} />
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
