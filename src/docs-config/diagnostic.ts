import type { Range } from './json/positions.ts';
import type { Code } from './rules/registry.ts';
import type { Severity } from './rules/rule.ts';

/** A problem in a document: an error, or a warning worth a look. */
export interface Diagnostic {
  readonly code: Code;
  readonly severity: Severity;
  /** One plain sentence that includes the offending value. */
  readonly message: string;
  /**
   * JSON pointer (RFC 6901): for a missing field, where it would be; empty for the document and for syntax. At most 4,096
   * characters: a longer one is cut to the innermost value that fits.
   */
  readonly pointer: string;
  /** The offending text: the key for an unknown key, the opening bracket for a missing field, otherwise the value. */
  readonly range: Range;
  /** How to fix it. */
  readonly suggestion: string | null;
  /** An edit that is certain to be what was meant; null when there is a choice. */
  readonly fix: Fix | null;
}

/** A replacement of a part of the text. */
export interface Fix {
  readonly range: Range;
  readonly newText: string;
}
