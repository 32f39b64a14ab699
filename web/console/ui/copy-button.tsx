import { useState } from 'react';
import { Button } from './button.tsx';
import { CheckIcon, CopyIcon } from './icons.tsx';

/** How long the button shows that the text was copied. */
const shownMs = 2_000;

interface CopyButtonProps {
  readonly text: string;
  /** What it copies, for screen readers: `Copy the token`. */
  readonly label: string;
  /** Whether the label is shown. */
  readonly isLabelShown?: boolean;
  readonly onCopied?: () => void;
}

/** Copies a text to the clipboard. */
export function CopyButton({ text, label, isLabelShown = false, onCopied }: CopyButtonProps) {
  const [latest, setLatest] = useState<{ readonly text: string; readonly outcome: 'copied' | 'failed' }>();
  const copy = async () => {
    const outcome = (await writeClipboard(text)) ? 'copied' : 'failed';
    const own = { text, outcome } as const;
    setLatest(own);
    setTimeout(() => setLatest((current) => (current === own ? undefined : current)), shownMs);
    if (outcome === 'copied') onCopied?.();
  };
  const outcome = latest?.text === text ? latest.outcome : undefined;
  const status = outcome === 'copied' ? 'Copied' : outcome === 'failed' ? 'Not copied: select the text instead' : '';
  return (
    <span className="copy">
      <Button
        variant={isLabelShown ? 'secondary' : 'quiet'}
        className={isLabelShown ? 'small' : 'icon-only small'}
        aria-label={label}
        title={label}
        onClick={() => void copy()}
      >
        {outcome === 'copied' ? <CheckIcon /> : <CopyIcon />}
        {isLabelShown && (outcome === 'copied' ? 'Copied' : 'Copy')}
      </Button>
      <span role="status" className={outcome === 'failed' ? 'field-error' : 'visually-hidden'}>
        {status}
      </span>
    </span>
  );
}

/** Without HTTPS browsers have no clipboard for scripts; there the old command still works. */
async function writeClipboard(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = document.createElement('textarea');
    area.value = text;
    (document.querySelector('dialog[open]') ?? document.body).append(area);
    area.select();
    const succeeded = document.execCommand('copy');
    area.remove();
    return succeeded;
  }
}
