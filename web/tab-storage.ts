/** Storage that is forgotten with the page. */
export class PageStorage implements Storage {
  [name: string]: unknown;
  readonly #items = new Map<string, string>();

  get length(): number {
    return this.#items.size;
  }

  key(index: number): string | null {
    return [...this.#items.keys()][index] ?? null;
  }

  getItem(key: string): string | null {
    return this.#items.get(key) ?? null;
  }

  setItem(key: string, value: string): void {
    this.#items.set(key, value);
  }

  removeItem(key: string): void {
    this.#items.delete(key);
  }

  clear(): void {
    this.#items.clear();
  }
}

/** What only this browser tab has, and only until it is closed; in a browser that blocks storage and cookies, only this page. */
export const tabStorage: Storage = openTabStorage();

function openTabStorage(): Storage {
  try {
    return sessionStorage;
  } catch {
    return new PageStorage();
  }
}

/** The name of what this gateway has in the browser: others may be below the same origin. */
export const storageKeyOf = (item: string): string => `user-group-gateway.${item} ${new URL('.', document.baseURI).pathname}`;

/** Stores an item until the tab is closed; forgets it if there is no space. */
export function storeInTab(key: string, value: string): void {
  try {
    tabStorage.setItem(key, value);
  } catch {
    tabStorage.removeItem(key); // an earlier one would come back with a reload
  }
}

const apiTokenKey = storageKeyOf('api-token');
const beganKey = storageKeyOf('session-began');

/** The API token of this tab, which the console and the playground share. */
export const storedApiToken = {
  /** Undefined if there is none. */
  read: (): string | undefined => tabStorage.getItem(apiTokenKey) ?? undefined,
  /** Since when this tab has it, in milliseconds since 1970; undefined if there is none. */
  beganAtMs: (): number | undefined => Number(tabStorage.getItem(beganKey) ?? Number.NaN) || undefined,
  write(apiToken: string): void {
    storeInTab(apiTokenKey, apiToken);
    storeInTab(beganKey, String(Date.now()));
  },
  remove(): void {
    tabStorage.removeItem(apiTokenKey);
    tabStorage.removeItem(beganKey);
  },
};
