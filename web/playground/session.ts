/** The API token is in the storage of this browser tab only, which the console of the same tab shares. */
const tokenKey = 'user-group-gateway.api-token';

/** The API token of this tab; empty if there is none. */
export const readToken = (): string => sessionStorage.getItem(tokenKey) ?? '';

/** Keeps the API token until the tab is closed; an empty one forgets it. */
export function storeToken(token: string): void {
  if (token) sessionStorage.setItem(tokenKey, token);
  else sessionStorage.removeItem(tokenKey);
}

/**
 * Takes the document that a link to the playground gives in its query, `?query=…&variables=…`, and removes it from the address, so that a
 * reload shows what was edited.
 */
export function takeLinkedDocument(): { query: string; variables: string | null } | undefined {
  const parameters = new URLSearchParams(location.search);
  const query = parameters.get('query');
  if (query === null) return undefined;
  history.replaceState(null, '', location.pathname);
  return { query, variables: parameters.get('variables') };
}

/** Whether GraphiQL restores the tabs that it stored before a reload. */
export const hasStoredTabs = (): boolean => sessionStorage.getItem('graphiql:tabState') !== null;
