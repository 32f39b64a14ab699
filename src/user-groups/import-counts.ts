import type { RejectedLine } from './import-lines.ts';
import type { CountsByEnvironment } from './statements/import.ts';

/** How many groups were created, and how many that existed were changed, by their environment. */
export type ChangesByEnvironment = Readonly<Record<keyof CountsByEnvironment, { created: number; updated: number }>>;

/** No changes so far. */
export const noChanges = (): ChangesByEnvironment => ({
  Customer: { created: 0, updated: 0 },
  Testing: { created: 0, updated: 0 },
  Untagged: { created: 0, updated: 0 },
});

/** The environments, as {@link ChangesByEnvironment} names them. */
export const environments = ['Customer', 'Testing', 'Untagged'] as const;

/** What became of lines. */
export interface WriteOutcome {
  /** How many groups were created, and changed, by their environment; not in a dry run. */
  readonly byEnvironment: ChangesByEnvironment;
  readonly created: number;
  readonly updated: number;
  readonly unchanged: number;
  readonly untaggedByDefault: number;
  readonly rejected: readonly RejectedLine[];
}
