/**
 * Shows each response in the tab whose operation was sent. GraphiQL itself shows it in whichever tab is open when it comes, and
 * drops it if another operation was sent meanwhile: it may be the only one with a secret.
 */
export class TabResponses {
  /** The id of the tab that is open. */
  #open = '';
  #show = (_response: string): void => {};
  /** What was sent last by each tab, by id. */
  readonly #latest = new Map<string, object>();
  /** Responses that wait until their tab is open, by id. */
  readonly #waiting = new Map<string, string>();

  /** Called when a tab is opened. @param show shows a response in it. */
  open(id: string, show: (response: string) => void): void {
    this.#open = id;
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
    this.#waiting.set(tab, JSON.stringify(response, null, 2));
    this.#deliver();
  }

  #deliver(): void {
    const response = this.#waiting.get(this.#open);
    if (response === undefined) return;
    this.#waiting.delete(this.#open);
    this.#show(response);
  }
}
