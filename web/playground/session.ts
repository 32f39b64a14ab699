import { tabStorage } from '../tab-storage.ts';

/**
 * Takes the document that a link to the playground gives in its query, `?query=…&variables=…`, and removes it from the address,
 * so that a reload shows what was edited.
 */
export function takeLinkedDocument(): { query: string; variables: string | null } | undefined {
  const parameters = new URLSearchParams(location.search);
  const query = parameters.get('query');
  if (query === null) return undefined;
  history.replaceState(null, '', location.pathname);
  return { query, variables: parameters.get('variables') };
}

/** Whether GraphiQL restores the tabs that it stored before a reload. */
export const hasStoredTabs = (): boolean => tabStorage.getItem('graphiql:tabState') !== null;
