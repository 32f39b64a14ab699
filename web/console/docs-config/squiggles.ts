import { useEffect } from 'react';
import type { CheckDocsConfigQuery } from '../graphql/generated.ts';
import type { Edit, Editor } from '../ui/editor.ts';

/** The result of a check. */
export type Report = NonNullable<CheckDocsConfigQuery['validateDocsConfig']>;

/** A diagnostic of the gateway. */
export type ReportDiagnostic = Report['diagnostics'][number];

/** Marks diagnostics in the editor, while they are those of its text. */
export function useSquiggles(editor: Editor | undefined, diagnostics: readonly ReportDiagnostic[] | undefined): void {
  useEffect(() => {
    if (!editor || !diagnostics) return undefined;
    const { length } = editor.text();
    let isCurrent = true;
    editor.setDiagnostics(
      diagnostics.map((diagnostic) => {
        const { code, severity, message, suggestion, range, fix } = diagnostic;
        const from = Math.min(range.start.offset, length);
        return {
          from,
          to: Math.min(Math.max(range.end.offset, from), length),
          severity: severity === 'ERROR' ? 'error' : 'warning',
          source: code,
          message: suggestion ? `${message}\n${suggestion}` : message,
          actions: fix ? [{ name: 'Fix', apply: () => isCurrent && editor.change(editsOf([diagnostic])) }] : [],
        };
      }),
    );
    return () => {
      isCurrent = false;
    };
  }, [editor, diagnostics]);
}

/**
 * The edits that fix diagnostics; where two would change the same place, only the first: the next check finds the other again.
 */
export function editsOf(diagnostics: readonly ReportDiagnostic[]): Edit[] {
  const edits = diagnostics
    .flatMap(({ fix }) => (fix ? [{ from: fix.range.start.offset, to: fix.range.end.offset, insert: fix.newText }] : []))
    .sort((a, b) => a.from - b.from || a.to - b.to);
  let end = -1;
  return edits.filter(({ from, to }) => {
    if (from < end || (from === end && to === end)) return false;
    end = to;
    return true;
  });
}
