import { type Ref, useEffect, useImperativeHandle, useRef, useState } from 'react';
import type { Editor, EditorOptions } from './editor.ts';

interface CodeEditorProps extends Omit<EditorOptions, 'text'> {
  /** The text to start with: later ones are set with the {@link Editor}. */
  readonly initialText: string;
  readonly isReadOnly?: boolean;
  readonly className?: string;
  /** The editor, once it is loaded. */
  readonly ref?: Ref<Editor | undefined>;
  readonly onReady?: (editor: Editor) => void;
}

/** An editor for JSON, loaded when the first one is shown. */
export function CodeEditor({ ref, className = '', isReadOnly = false, onReady, ...props }: CodeEditorProps) {
  const parent = useRef<HTMLDivElement>(null);
  const latest = useRef({ ...props, onReady });
  latest.current = { ...props, onReady };
  const [editor, setEditor] = useState<Editor>();
  const [isFailed, setIsFailed] = useState(false);

  useEffect(() => {
    let created: Editor | undefined;
    let isGone = false;
    import('./editor.ts').then(
      ({ createEditor }) => {
        if (isGone || !parent.current) return;
        const { initialText, onChange, onReady: ready, ...options } = latest.current;
        created = createEditor(parent.current, {
          ...options,
          text: initialText,
          onChange: (text) => latest.current.onChange?.(text),
        });
        setEditor(created);
        ready?.(created);
      },
      () => setIsFailed(true),
    );
    return () => {
      isGone = true;
      created?.destroy();
    };
  }, []);
  useEffect(() => editor?.setReadOnly(isReadOnly), [editor, isReadOnly]);
  useImperativeHandle(ref, () => editor, [editor]);

  return (
    <div className={`editor ${className}`} ref={parent} aria-busy={!editor}>
      {!editor && (
        <p className="editor-loading">{isFailed ? 'The editor could not be loaded. Reload the page.' : 'Loading the editor …'}</p>
      )}
    </div>
  );
}
