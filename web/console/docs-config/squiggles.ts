import { useEffect } from 'react';
import type { CheckDocsConfigQuery } from '../graphql/generated.ts';
import type { Editor } from '../ui/editor.ts';

/** The result of a check. */
export type Report = NonNullable<CheckDocsConfigQuery['validateDocsConfig']>;

/** A diagnostic of the gateway. */
export type ReportDiagnostic = Report['diagnostics'][number];

/** Marks diagnostics in the editor, while they are those of its text. */
export function useSquiggles(editor: Editor | undefined, diagnostics: readonly ReportDiagnostic[] | undefined): void {
  useEffect(() => {
    if (!editor || !diagnostics) return;
    const { length } = editor.text();
    editor.setDiagnostics(
      diagnostics.map(({ code, severity, message, suggestion, range }) => {
        const from = Math.min(range.start.offset, length);
        return {
          from,
          to: Math.min(Math.max(range.end.offset, from), length),
          severity: severity === 'ERROR' ? 'error' : 'warning',
          source: code,
          message: suggestion ? `${message}\n${suggestion}` : message,
        };
      }),
    );
  }, [editor, diagnostics]);
}
