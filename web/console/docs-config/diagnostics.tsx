import { useState } from 'react';
import { outsideHref } from '../app/router.tsx';
import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import type { Editor } from '../ui/editor.ts';
import { CheckIcon } from '../ui/icons.tsx';
import { LoadingRows } from '../ui/states.tsx';
import type { Report, ReportDiagnostic } from './squiggles.ts';

/** How many diagnostics are shown at first. */
const shownAtFirst = 100;

interface DiagnosticsProps {
  readonly report: Report | undefined;
  /** Whether the report is that of the text as it is now. */
  readonly isCurrent: boolean;
  readonly isEmpty: boolean;
  readonly editor: Editor | undefined;
}

/** The result of the check: the counts, and every diagnostic with its place. */
export function Diagnostics({ report, isCurrent, isEmpty, editor }: DiagnosticsProps) {
  const [isWhole, setIsWhole] = useState(false);
  if (isEmpty) return <p className="muted">Nothing to check yet.</p>;
  if (!report) return isCurrent ? null : <LoadingRows rows={3} />;
  const { diagnostics, errorCount, warningCount } = report;
  const shown = isWhole ? diagnostics : diagnostics.slice(0, shownAtFirst);
  return (
    <div aria-busy={!isCurrent} className={isCurrent ? undefined : 'stale'}>
      <header className="panel-header">
        <h2 role="status">{isCurrent ? summary(errorCount, warningCount) : 'Checking …'}</h2>
      </header>
      {isCurrent && diagnostics.length === 0 && (
        <p className="notice good">
          <CheckIcon /> <span>The file is valid, and nothing looks unintended.</span>
        </p>
      )}
      <ul className="diagnostics">
        {shown.map((diagnostic) => (
          <DiagnosticItem
            key={`${diagnostic.code} ${diagnostic.range.start.offset} ${diagnostic.pointer} ${diagnostic.message}`}
            {...{ diagnostic, isCurrent, editor }}
          />
        ))}
      </ul>
      {shown.length < diagnostics.length && (
        <Button className="small" onClick={() => setIsWhole(true)}>
          Show all {diagnostics.length.toLocaleString('en')}
        </Button>
      )}
    </div>
  );
}

interface DiagnosticItemProps extends Pick<DiagnosticsProps, 'isCurrent' | 'editor'> {
  readonly diagnostic: ReportDiagnostic;
}

function DiagnosticItem({ diagnostic, isCurrent, editor }: DiagnosticItemProps) {
  const { code, severity, message, suggestion, url, range } = diagnostic;
  const { line, column, offset } = range.start;
  return (
    <li>
      <p className="diagnostic-head">
        <Badge tone={severity === 'ERROR' ? 'bad' : 'warn'}>{severity === 'ERROR' ? 'Error' : 'Warning'}</Badge>
        <a href={outsideHref(url)}>{code}</a>
        <Button variant="quiet" className="small place" disabled={!isCurrent} onClick={() => editor?.goTo(offset)}>
          Line {line}, column {column}
        </Button>
      </p>
      <p>{message}</p>
      {suggestion && <p className="muted">{suggestion}</p>}
    </li>
  );
}

function summary(errors: number, warnings: number): string {
  if (errors + warnings === 0) return 'No errors, no warnings';
  const count = (number: number, word: string) => `${number.toLocaleString('en')} ${word}${number === 1 ? '' : 's'}`;
  return [errors > 0 && count(errors, 'error'), warnings > 0 && count(warnings, 'warning')].filter(Boolean).join(', ');
}
