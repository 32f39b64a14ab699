import type { FixedText } from '../apply-fixes.ts';
import type { Report } from '../validate.ts';

/** A file with its report: the input of every reporter. */
export interface CheckedFile {
  /** The path as the user wrote it; `-` for standard input. */
  readonly file: string;
  readonly source: string;
  readonly report: Report;
  /** The fixes applied before the check; missing when fixing was not requested. */
  readonly fixed?: Pick<FixedText, 'fixes' | 'fixCount'>;
}
