import { useCallback, useEffect, useRef, useState } from 'react';
import { format } from '../../raw-json.ts';
import { holdUnsaved, hrefOf, navigate, outsideHref, usePlace } from '../app/router.tsx';
import { Failure } from '../graphql/failure.ts';
import { CheckDocsConfig, type DocsConfigInput } from '../graphql/generated.ts';
import { useQuery } from '../graphql/use-query.ts';
import { Button } from '../ui/button.tsx';
import { CodeEditor } from '../ui/code-editor.tsx';
import { download } from '../ui/download.ts';
import type { Editor } from '../ui/editor.ts';
import { FailureNotice } from '../ui/failure-notice.tsx';
import { useMessage } from '../ui/messages.tsx';
import { unusedFilter } from '../ui/unused-filters.ts';
import { Diagnostics } from './diagnostics.tsx';
import { exampleText } from './example.ts';
import { FileDrop } from './file-drop.tsx';
import { requestFor } from './request.ts';
import { useSquiggles } from './squiggles.ts';

/** How long to wait for the next key before the text is checked. */
const typingMs = 400;

/** The text that is being checked; each has a version of its own, because comparing long texts takes time. */
interface Checked {
  readonly version: number;
  readonly request: DocsConfigInput | Failure | undefined;
}

/** The configuration file of a documentation site: edit it, see what is wrong, save it. The gateway does the checking. */
export default function DocsConfig() {
  const { query } = usePlace();
  const showMessage = useMessage();
  const [strict, allowNestedGroups] = [query.get('strict') === 'true', query.get('nested') === 'true'];
  const [editor, setEditor] = useState<Editor>();
  const [checked, setChecked] = useState<Checked>({ version: 0, request: undefined });
  const [isEmpty, setIsEmpty] = useState(true);
  const [isTyping, setIsTyping] = useState(false);
  const [isUnsaved, setIsUnsaved] = useState(false);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const file = useRef({ name: 'mint.json', hasCarriageReturns: false, savedText: '' });
  useEffect(() => (isUnsaved ? holdUnsaved() : undefined), [isUnsaved]);

  const unused = unusedFilter(query, { strict: strict ? 'true' : '', nested: allowNestedGroups ? 'true' : '' });
  const options = { strict, allowNestedGroups };
  const request = checked.request instanceof Failure ? undefined : checked.request;
  const check = useQuery(
    CheckDocsConfig,
    unused ? undefined : request && { input: request, options },
    `${checked.version} ${strict} ${allowNestedGroups}`,
  );
  const report = request && !unused && !check.failure ? (check.data?.validateDocsConfig ?? undefined) : undefined;
  const isCurrent = !isTyping && !check.isLoading;
  const diagnostics = isCurrent && report ? report.diagnostics : undefined;
  useSquiggles(editor, diagnostics);

  const edited = useCallback((text: () => string) => {
    clearTimeout(timer.current);
    setIsTyping(true);
    setIsUnsaved(true);
    timer.current = setTimeout(() => {
      const given = text();
      setIsEmpty(given.trim() === '');
      setIsUnsaved(given.trim() !== '' && given !== file.current.savedText);
      setChecked(({ version }) => ({ version: version + 1, request: given.trim() === '' ? undefined : requestFor(given) }));
      setIsTyping(false);
    }, typingMs);
  }, []);
  const open = (name: string, text: string) => {
    if (!editor) return showMessage('Not opened: the editor is still loading. Open the file again.');
    const current = editor.text(); // `isUnsaved` follows the typing with a delay
    const isLost = current.trim() !== '' && current !== file.current.savedText;
    if (isLost && !confirm('The text is not saved. Replace it all the same?')) return;
    editor.setText(text);
    file.current = { name, hasCarriageReturns: text.includes('\r\n'), savedText: editor.text() };
  };
  const save = () => {
    const text = editor?.text() ?? '';
    download(file.current.name, [file.current.hasCarriageReturns ? text.replaceAll('\n', '\r\n') : text], 'application/json');
    file.current.savedText = text;
    setIsUnsaved(false);
  };
  const tidy = () => {
    const text = editor?.text() ?? '';
    const formatted = format(text);
    if (formatted === undefined) return showMessage('Not formatted: the text is not JSON yet');
    editor?.change([{ from: 0, to: text.length, insert: `${formatted}\n` }]);
    showMessage('Formatted');
  };
  const setOption = (change: { strict?: boolean; nested?: boolean }) => {
    const next = { strict, nested: allowNestedGroups, ...change };
    const href = hrefOf('docs-config', { strict: next.strict ? 'true' : '', nested: next.nested ? 'true' : '' });
    navigate(href, { replace: true, discards: true });
  };

  return (
    <>
      <header className="page-header">
        <h1>Docs configuration</h1>
        <div className="actions">
          <Button disabled={isEmpty} onClick={tidy}>
            Format
          </Button>
          <Button disabled={isEmpty} onClick={save}>
            Download
          </Button>
        </div>
      </header>
      <p className="muted">
        Checks the configuration file of a documentation site while you type.{' '}
        <a href={outsideHref('docs/docs-config')}>What is checked</a>
      </p>
      <div className="filters">
        <label className="check-label">
          <input type="checkbox" checked={strict} onChange={(event) => setOption({ strict: event.target.checked })} />
          <span>Strict: warnings are errors</span>
        </label>
        <label className="check-label">
          <input type="checkbox" checked={allowNestedGroups} onChange={(event) => setOption({ nested: event.target.checked })} />
          <span>Accept groups inside groups</span>
        </label>
      </div>
      <div className="docs-config">
        <FileDrop onOpen={open}>
          <CodeEditor
            className="docs-config-editor"
            label="Configuration file"
            initialText=""
            onReady={setEditor}
            onChange={edited}
          />
          {isEmpty && editor && (
            <p className="editor-hint">
              Paste or drop a file, open one, or{' '}
              <Button className="small" onClick={() => open('mint.json', exampleText)}>
                start with an example
              </Button>
            </p>
          )}
        </FileDrop>
        <section className="panel results" aria-label="Result">
          <FailureNotice
            title="The file could not be checked"
            failure={unused ?? (checked.request instanceof Failure ? checked.request : check.failure)}
            onRetry={unused ? () => setOption({}) : check.reload}
            retryLabel={unused ? 'Check without them' : 'Try again'}
          />
          <Diagnostics {...{ report, isCurrent, isEmpty, editor }} />
        </section>
      </div>
    </>
  );
}
