import { type AnchorHTMLAttributes, type MouseEvent, useSyncExternalStore } from 'react';

/** Where a person is: a page, and its state. The console keeps both in the URL, so that a view can be shared. */
export interface Place {
  /** The last segment of the path; empty for the first page. */
  readonly page: string;
  readonly query: URLSearchParams;
}

/** The path of the console, below a prefix that only a reverse proxy knows. */
const consolePath = new URL('console', document.baseURI).pathname;

/** An event of this window, because changing the history by script fires none. */
const navigated = 'console:navigated';

function subscribe(listener: () => void): () => void {
  for (const type of ['popstate', navigated]) addEventListener(type, listener);
  return () => {
    for (const type of ['popstate', navigated]) removeEventListener(type, listener);
  };
}

/** The place that the URL names. */
export function usePlace(): Place {
  const href = useSyncExternalStore(subscribe, () => location.pathname + location.search);
  const { pathname, search } = new URL(href, location.origin);
  return { page: pathname.slice(consolePath.length).replace(/^\//, ''), query: new URLSearchParams(search) };
}

/** Values of a query; those that are missing or empty are left out. */
export type QueryValues = Readonly<Record<string, string | readonly string[] | undefined>>;

/** The URL of a place. */
export function hrefOf(page: string, values: QueryValues = {}): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    for (const item of typeof value === 'object' ? value : [value ?? '']) if (item !== '') query.append(name, item);
  }
  const search = query.toString();
  return `${consolePath}${page && `/${page}`}${search && `?${search}`}`;
}

/** The URL of a page of the gateway that is not a part of the console, such as `docs/api`. */
export function outsideHref(path: string): string {
  return new URL(path.replace(/^\//, ''), document.baseURI).href;
}

/** How many forms have changes that are not saved. */
let unsavedForms = 0;

/**
 * Has the console, and the browser, ask before a person leaves the page.
 *
 * @returns ends it: the changes are saved or discarded.
 */
export function holdUnsaved(): () => void {
  const ask = (event: BeforeUnloadEvent) => event.preventDefault();
  addEventListener('beforeunload', ask);
  unsavedForms += 1;
  return () => {
    removeEventListener('beforeunload', ask);
    unsavedForms -= 1;
  };
}

/**
 * Goes to a place, unless there are changes that the person does not want to lose.
 *
 * @param replace whether the place before it is left out of the history: for states that change with every key.
 */
export function navigate(href: string, { replace = false } = {}): void {
  if (href === location.pathname + location.search) return;
  if (unsavedForms > 0 && !confirm('There are changes that are not saved. Leave the page without them?')) return;
  if (replace) history.replaceState(null, '', href);
  else history.pushState(null, '', href);
  dispatchEvent(new Event(navigated));
}

/** A link to a place in the console. */
export function Link({ href, ...props }: AnchorHTMLAttributes<HTMLAnchorElement> & { readonly href: string }) {
  const follow = (event: MouseEvent) => {
    const isPlain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
    if (!isPlain || event.defaultPrevented) return;
    event.preventDefault();
    navigate(href);
    scrollTo(0, 0);
  };
  return <a href={href} onClick={follow} {...props} />;
}
