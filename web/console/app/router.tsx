import { type AnchorHTMLAttributes, type MouseEvent, useSyncExternalStore } from 'react';

/** Where a person is: a page, and its state. The console keeps both in the URL, so that a view can be shared. */
export interface Place {
  /** The last segment of the path; empty for the first page. */
  readonly page: string;
  readonly query: URLSearchParams;
}

/** The path of the console, below a prefix that only a reverse proxy knows. */
const consolePath = new URL('console', document.baseURI).pathname;

/**
 * The place that is shown, as its URL. Not always that of the address bar: while a person is asked whether to go back, the
 * browser has gone already.
 */
let shown = currentHref();

/** The position of what is shown in the history, which every entry keeps in its state. */
let position = positionOf(history.state) ?? 0;
if (positionOf(history.state) === undefined) history.replaceState({ position }, '');

/** Whether the next change of the history only takes back the one before, which the person did not want. */
let isReturning = false;

const listeners = new Set<() => void>();

function currentHref(): string {
  return location.pathname + location.search;
}

function positionOf(state: unknown): number | undefined {
  const value = (state as { readonly position?: unknown } | null)?.position;
  return typeof value === 'number' ? value : undefined;
}

function show(href: string, newPosition: number): void {
  shown = href;
  position = newPosition;
  for (const listener of listeners) listener();
}

addEventListener('popstate', ({ state }) => {
  const newPosition = positionOf(state) ?? position;
  if (isReturning || currentHref() === shown) {
    isReturning = false;
    position = newPosition;
  } else if (mayLeave()) {
    show(currentHref(), newPosition);
  } else {
    isReturning = true;
    history.go(position - newPosition);
  }
});

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** The place that is shown. */
export function usePlace(): Place {
  const href = useSyncExternalStore(subscribe, () => shown);
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

/** How many forms have changes that are not saved, and dialogs something that is not finished. */
let unsavedForms = 0;

/**
 * Has the console, and the browser, ask before a person leaves the page.
 *
 * @returns ends it: nothing is left to save or to finish.
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

/** Whether there is something to lose. */
export const isUnsaved = (): boolean => unsavedForms > 0;

/** Whether there is nothing to lose, or the person agrees to lose it. */
export function mayLeave(): boolean {
  return !isUnsaved() || confirm('Something on this page is not saved, or not finished. Leave the page all the same?');
}

/**
 * Goes to a place, unless there are changes that the person does not want to lose.
 *
 * @param replace whether the place before it is left out of the history: for states that change with every key.
 * @param discards whether changes that are not saved no longer matter, or stay where they are.
 */
export function navigate(href: string, { replace = false, discards = false } = {}): void {
  if (href === shown || !(discards || mayLeave())) return;
  const newPosition = replace ? position : position + 1;
  if (replace) history.replaceState({ position }, '', href);
  else history.pushState({ position: newPosition }, '', href);
  show(href, newPosition);
}

interface LinkProps extends AnchorHTMLAttributes<HTMLAnchorElement> {
  readonly href: string;
  /** As for {@link navigate}. */
  readonly discards?: boolean;
}

/** A link to a place in the console. */
export function Link({ href, discards = false, ...props }: LinkProps) {
  const follow = (event: MouseEvent) => {
    const isPlain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
    if (!isPlain || event.defaultPrevented) return;
    event.preventDefault();
    navigate(href, { discards });
    scrollTo(0, 0);
  };
  return <a href={href} onClick={follow} {...props} />;
}
