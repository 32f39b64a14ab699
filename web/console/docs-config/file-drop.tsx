import { type DragEvent, type ReactNode, useRef, useState } from 'react';
import { Button } from '../ui/button.tsx';

/** Longer files cannot be checked, and are not read. */
const maxFileBytes = 256 * 1_024;

interface FileDropProps {
  readonly onOpen: (name: string, text: string) => void;
  readonly children: ReactNode;
}

/** Opens a file that is dropped onto it, or chosen by a button. */
export function FileDrop({ onOpen, children }: FileDropProps) {
  const input = useRef<HTMLInputElement>(null);
  const [isOver, setIsOver] = useState(false);
  const [problem, setProblem] = useState('');
  const open = async (file: File | undefined) => {
    if (!file) return;
    if (file.size > maxFileBytes) return setProblem(`${file.name} is too large: a file may have 256 KiB.`);
    try {
      // A byte order mark stays: it is not valid in the file.
      const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(await file.arrayBuffer());
      setProblem('');
      onOpen(file.name, text);
    } catch {
      setProblem(`${file.name} is not UTF-8, or could not be read.`);
    }
  };
  const drop = (event: DragEvent) => {
    if (event.dataTransfer.files.length === 0) return; // a text, which the editor takes itself
    event.preventDefault();
    event.stopPropagation();
    setIsOver(false);
    if (event.dataTransfer.files.length > 1) setProblem('Several files were dropped, and none was opened. Drop one at a time.');
    else void open(event.dataTransfer.files[0]);
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: dropping is a shortcut of the button
    <div
      className={`file-drop ${isOver ? 'over' : ''}`}
      onDropCapture={drop}
      onDragOver={(event) => {
        event.preventDefault();
        setIsOver(event.dataTransfer.types.includes('Files'));
      }}
      onDragLeave={() => setIsOver(false)}
    >
      <div className="file-drop-bar">
        <Button className="small" onClick={() => input.current?.click()}>
          Open a file …
        </Button>
        <input
          ref={input}
          type="file"
          hidden
          aria-label="Configuration file to open"
          accept=".json,application/json"
          onChange={(event) => {
            void open(event.target.files?.[0]);
            event.target.value = '';
          }}
        />
        <span role="alert">{problem}</span>
      </div>
      {children}
    </div>
  );
}
