import { chmodSync, rmSync } from 'node:fs';
import { makeDatabaseFolder } from '../test/support/database-folder.ts';

/** A folder, and what must be ended. */
export interface Ends {
  /** An empty folder that every user may enter; deleted afterwards. */
  readonly folder: string;
  /**
   * Registers what ends something, before that is started; called in reverse order.
   *
   * @throws Error once the end has begun: what would be started then could not be ended.
   */
  onEnd(close: () => Promise<void> | void): void;
}

/** Creates a folder for processes. `end` ends what was registered, deletes the folder, and returns what failed. */
export function createEnds(): Ends & { end(): Promise<string[]> } {
  const folder = makeDatabaseFolder();
  chmodSync(folder, 0o777); // programs write their logs there, some as another user
  const ends: (() => Promise<void> | void)[] = [];
  let isOver = false;
  return {
    folder,
    onEnd(close) {
      if (isOver) throw new Error('interrupted');
      ends.push(close);
    },
    async end() {
      isOver = true;
      const failures: string[] = [];
      for (let close = ends.pop(); close; close = ends.pop()) {
        try {
          await close();
        } catch (error) {
          failures.push(`at its end: ${(error as Error).message}`);
        }
      }
      rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
      return failures;
    },
  };
}
