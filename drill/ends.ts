import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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
  /** Registers a log, which is kept if what runs here fails. */
  onFailure(readLog: () => string): void;
}

/** What {@link createEnds} returns. */
interface OpenEnds extends Ends {
  /** Ends what was registered, and deletes the folder. @returns what failed. */
  end(): Promise<string[]>;
  /** Writes the logs to a folder that stays. @returns the folder. */
  keepLogs(): string;
}

/** Creates a folder for processes. */
export function createEnds(): OpenEnds {
  const folder = makeDatabaseFolder();
  chmodSync(folder, 0o777); // programs write their logs there, some as another user
  const ends: (() => Promise<void> | void)[] = [];
  const logs: (() => string)[] = [];
  let isOver = false;
  return {
    folder,
    onEnd(close) {
      if (isOver) throw new Error('interrupted');
      ends.push(close);
    },
    onFailure: (readLog) => void logs.push(readLog),
    keepLogs() {
      const kept = mkdtempSync(join(tmpdir(), 'drill-logs-'));
      logs.forEach((readLog, index) => {
        writeFileSync(join(kept, `${index + 1}.log`), readLog());
      });
      return kept;
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
