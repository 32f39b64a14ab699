import { GraphiQL } from 'graphiql';
import { useEffect, useMemo, useRef, useState } from 'react';
import { endsSession, listenToTabs } from '../shared-session.ts';
import { storedApiToken, tabStorage } from '../tab-storage.ts';
import { correctAccessibility } from './accessibility.ts';
import { examples } from './examples.ts';
import { createFetcher } from './fetcher.ts';
import { hasStoredTabs, takeLinkedDocument } from './session.ts';

const linked = takeLinkedDocument();
const tabs = [...(linked ? [linked] : []), ...examples];
/** GraphiQL takes the variables of the first tab from here, unless it restores what was edited before a reload. */
const variables = linked?.variables ?? (hasStoredTabs() ? undefined : examples[0]?.variables);

/** GraphiQL with a field for the API token. Documents and the API token survive a reload, and are forgotten with the tab. */
export function Playground() {
  const [token, setToken] = useState(() => storedApiToken.read() ?? '');
  const current = useRef(token);
  const fetcher = useMemo(() => createFetcher(() => current.current), []);

  useEffect(correctAccessibility, []);

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
          placeholder="ugk_…"
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
      <GraphiQL
        fetcher={fetcher}
        storage={tabStorage}
        defaultTabs={tabs}
        {...(linked && { query: linked.query })}
        {...(variables && { variables })}
        defaultEditorToolsVisibility="variables"
        shouldPersistHeaders={false}
        forcedTheme="system"
        inputValueDeprecation
      >
        <GraphiQL.Logo>{''}</GraphiQL.Logo>
      </GraphiQL>
    </>
  );
}
