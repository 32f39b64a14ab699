/**
 * Shows each response in the tab whose operation was sent. GraphiQL itself shows it in whichever tab is open when it comes, and
 * drops it if another operation was sent meanwhile: it may be the only one with a secret.
 */
export class TabResponses {
  /** The id of the tab that is open. */
  #open = '';
  /** The ids of all tabs, in their order. */
  #tabs: readonly string[] = [];
  #show = (_response: string): void => {};
  /** What was sent last by each tab that has no response to it, by id. */
  readonly #latest = new Map<string, object>();
  /** Responses that wait until their tab is open, by id. */
  readonly #waiting = new Map<string, string>();

  constructor() {
    // A reload forgets them.
    addEventListener('beforeunload', (event) => {
      if (this.#tabs.some((id) => this.#waiting.has(id))) event.preventDefault();
    });
  }

  /** Called when a tab is opened, and the tabs have changed. @param show shows a response in it. */
  open(id: string, tabs: readonly string[], show: (response: string) => void): void {
    this.#open = id;
    this.#tabs = tabs;
    this.#show = show;
    this.#deliver();
  }

  /** Sends an operation of the tab that is open. Ends when there is a response, or a failure, for the tab to show. */
  async send(operation: () => Promise<unknown>): Promise<void> {
    const tab = this.#open;
    const sent = {};
    this.#latest.set(tab, sent);
    const response = await operation().catch((error) => ({ errors: [{ message: String(error) }] }));
    if (this.#latest.get(tab) !== sent) return; // the tab waits for the response to a later one
    this.#latest.delete(tab);
    this.#waiting.set(tab, JSON.stringify(response, null, 2));
    this.#deliver();
  }

  /** Whether a tab has a response that was not shown, or waits for one, which may be the only one with a secret. */
  isWaiting(index: number): boolean {
    const id = this.#tabs[index] ?? '';
    return this.#latest.has(id) || this.#waiting.has(id);
  }

  #deliver(): void {
    const response = this.#waiting.get(this.#open);
    if (response === undefined) return;
    this.#waiting.delete(this.#open);
    this.#show(response);
  }
}
