import { endOfLine } from './source-text.ts';
import type { ArrayNode, JsonNode, Member, ObjectNode, TextRange } from './syntax-tree.ts';

/** The maximum nesting depth, in levels. Real files have about ten. */
export const maxDepth = 200;

/** One replacement in the text. */
export interface Edit {
  /** What to replace; an empty range inserts. */
  readonly range: TextRange;
  readonly newText: string;
}

/** A place where the text is not strict JSON. */
export interface SyntaxProblem {
  readonly range: TextRange;
  /** One plain sentence; a function where making it costs more than a glance at the place. */
  readonly message: string | ((line: (offset: number) => number) => string);
  /** What to do, as an instruction. */
  readonly suggestion: string;
  /** An edit that cannot be wrong. Without one the problem is a guess, and the next guess on the same line is not reported. */
  readonly fix?: Edit;
  /** What follows depends on what was meant here: nothing more is reported on this line, and no fix is offered in the rest. */
  readonly unclear?: true;
}

/** The position in a text, and what decides whether the next problem is reported. */
export interface Scanner {
  readonly text: string;
  /** The offset of the next character. */
  at: number;
  /** Where the last token ended, and so where a missing comma is reported. */
  lastEnd: number;
  /** Reports a problem, unless it follows from an earlier one. */
  readonly report: (problem: SyntaxProblem) => void;
  /** Notes that what is here may be read in another way, if anything on its line is wrong: then no fix is offered there. */
  readonly doubt: (at: number) => void;
  /** After skipped text, up to the next comma or bracket: problems there follow from it and are not reported. */
  recovering: boolean;
  /** Whether a merge conflict is open; its second side will be skipped. */
  inConflict: boolean;
  /** No closing conflict marker follows, so it is not searched for again. */
  conflictsUnended: boolean;
}

/** A scanner at the start of a text. Passes problems on to `report`, except those that follow from an earlier one. */
export function createScanner(text: string, report: Scanner['report'], doubt: Scanner['doubt']): Scanner {
  let guessedUntil = -1;
  let unclear = { start: -1, end: -1 };
  let isRestUnclear = false;
  const scanner: Scanner = {
    text,
    at: 0,
    lastEnd: 0,
    recovering: false,
    inConflict: false,
    conflictsUnended: false,
    doubt,
    report: (problem) => {
      const { range, fix } = problem;
      const place = (fix ?? problem).range.start;
      const follows = scanner.recovering || (place >= unclear.start && place <= unclear.end);
      const hasFix = fix !== undefined && !isRestUnclear;
      if (problem.unclear) {
        isRestUnclear = true;
        if (range.end > unclear.end) unclear = { start: range.start, end: endOfLine(text, range.end) };
      }
      if (follows) return;
      if (!hasFix) {
        if (range.start < guessedUntil) return;
        guessedUntil = endOfLine(text, Math.max(range.start, range.end - 1));
      }
      report(fix && !hasFix ? omitFix(problem) : problem);
    },
  };
  return scanner;
}

/** The problem, or any other draft of a diagnostic, without its fix. */
export function omitFix<T extends { readonly fix?: Edit }>({ fix: _, ...rest }: T): Omit<T, 'fix'> {
  return rest;
}

/** An open object or array, and what is expected next in it. */
export interface Frame {
  readonly node: ObjectNode | ArrayNode;
  /**
   * `first`: an entry or the end; `next`: after a comma; `colon`: after a key; `value`: after a colon; `after`: after a value.
   */
  state: 'first' | 'next' | 'colon' | 'value' | 'after';
  member: Member | undefined;
  /** The offset of the last comma. */
  comma: number;
  /** Whether an object is among the items so far. Kept, because looking for one each time would not be linear. */
  holdsObject: boolean;
}

/** The frame of an object or array that was just opened. */
export function openFrame(node: ObjectNode | ArrayNode): Frame {
  return { node, state: 'first', member: undefined, comma: 0, holdsObject: false };
}

/** Adds a member whose key was just scanned; its colon and value follow. */
export function startMember(frame: Frame, node: ObjectNode, key: string, keyStart: number, keyEnd: number): void {
  const member: Member = { key, keyStart, keyEnd, value: { kind: 'error', start: keyStart, end: keyEnd } };
  node.members.push(member);
  frame.member = member;
  frame.state = 'colon';
}

/** Everything that the parser knows between two tokens. */
export interface ParserState {
  readonly scanner: Scanner;
  /** The open objects and arrays, outermost first. */
  readonly frames: Frame[];
  /** The outermost value; undefined when the text has none. */
  root: JsonNode | undefined;
  /** The offset of the first value that is nested too deep, which was skipped; undefined when there is none. */
  tooDeep: number | undefined;
  /**
   * Closing minus opening brackets in the rest of the text, minus the open ones: positive when there are too many closing
   * brackets. Undefined until a bracket does not match.
   */
  bracketBalance: number | undefined;
}

/** A problem that is fixed by removing the text. */
export function createRemoval(range: TextRange, message: string, suggestion: string): SyntaxProblem {
  return { range, message, suggestion, fix: { range, newText: '' } };
}
