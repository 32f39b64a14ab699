import type { TabsState } from '@graphiql/react';
import { PageStorage, storageKeyOf, storeInTab, tabStorage } from '../tab-storage.ts';
import { examples } from './examples.ts';

/** Documents with their variables, each in a tab, and which of them is shown. */
interface Documents {
  readonly activeTabIndex: number;
  readonly tabs: readonly { readonly query: string | null; readonly variables: string | null }[];
}

const storageKey = storageKeyOf('playground');

/** The documents of before a reload, or the examples; first the one that a link to the playground gives. */
export function openDocuments(): Documents {
  const stored = tabStorage.getItem(storageKey);
  const documents: Documents = stored ? JSON.parse(stored) : { activeTabIndex: 0, tabs: examples };
  const linked = takeLinkedDocument();
  return linked ? { activeTabIndex: 0, tabs: [linked, ...documents.tabs] } : documents;
}

/** Keeps the documents until the browser tab is closed: neither headers nor responses. */
export function storeDocuments({ activeTabIndex, tabs }: TabsState): void {
  const documents: Documents = { activeTabIndex, tabs: tabs.map(({ query, variables = null }) => ({ query, variables })) };
  storeInTab(storageKey, JSON.stringify(documents));
}

/**
 * What GraphiQL itself stores, which is forgotten with the page: after a reload it would open one more tab, without variables.
 * Its dialog clears the documents, too.
 */
export class PlaygroundStorage extends PageStorage {
  override clear(): void {
    super.clear();
    tabStorage.removeItem(storageKey);
  }
}

/**
 * Takes the document that a link to the playground gives in its query, `?query=…&variables=…`, and removes it from the address,
 * so that a reload shows what was edited.
 */
function takeLinkedDocument(): Documents['tabs'][number] | undefined {
  const parameters = new URLSearchParams(location.search);
  const query = parameters.get('query');
  if (query === null) return undefined;
  history.replaceState(null, '', location.pathname);
  return { query, variables: parameters.get('variables') };
}
