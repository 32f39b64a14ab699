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

const apiTokenKey = 'user-group-gateway.api-token';

/** The API token of this tab, which the console and the playground share. */
export const storedApiToken = {
  /** Undefined if there is none. */
  read: (): string | undefined => tabStorage.getItem(apiTokenKey) ?? undefined,
  write: (apiToken: string): void => tabStorage.setItem(apiTokenKey, apiToken),
  remove: (): void => tabStorage.removeItem(apiTokenKey),
};
