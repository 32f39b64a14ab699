import type { AppliedFix } from '../apply-fixes.ts';
import type { Report } from '../validate.ts';

/** A file with what was found in it: what every format of output is made of. */
export interface CheckedFile {
  /** As the user named it; `-` for standard input. */
  readonly file: string;
  readonly source: string;
  readonly report: Report;
  /** What was corrected before the check; absent when nothing was to be corrected. */
  readonly fixes?: readonly AppliedFix[];
}
