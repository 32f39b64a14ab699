import { useEffect, useRef } from 'react';
import { outsideHref } from '../app/router.tsx';
import type { Failure, FailureCode } from '../graphql/failure.ts';
import { Button } from './button.tsx';
import { CopyButton } from './copy-button.tsx';
import { WarningIcon } from './icons.tsx';

/** What to do, where the message of the gateway does not say it. */
const remedies: Partial<Record<FailureCode, string>> = {
  NETWORK: 'Check that the gateway is running and that you are connected, then try again.',
  UNAVAILABLE: 'The gateway is busy or its database cannot be reached. Wait a moment, then try again.',
  RATE_LIMITED: 'This API token sent too many requests. Wait until the limit is reset, then try again.',
  INTERNAL: 'Try again. If it fails again, look up the request id in the log of the gateway.',
  FORBIDDEN: 'Sign in with an API token that has this scope.',
  NOT_FOUND: 'It may have been changed or deleted in the meantime. Reload the page.',
  QUERY_TOO_COSTLY: 'Choose a shorter page or a narrower filter.',
  PAYLOAD_TOO_LARGE: 'A request may have 1 MiB, and quotation marks in a text count twice. Make the text shorter.',
};

const unknownTitle = 'It is not known whether the change was made';

const safeToRepeat =
  'Trying again is safe within 24 hours: it sends the same change, which is made only once, and shows its result.';

/** Programs read the header; here the number itself is shown. */
const retryAfterSentence = ' Try again after the number of seconds in the Retry-After header.';

interface FailureNoticeProps {
  readonly failure: Failure | undefined;
  /** What failed, such as `The groups could not be loaded`. Not shown for a change that may have been made. */
  readonly title: string;
  /** What to do when it is not known whether a change was made. */
  readonly unknownRemedy?: string;
  readonly onRetry?: () => void;
  readonly retryLabel?: string;
  /** Shows what can always be shown, after an input that trying again does not make valid. */
  readonly onReset?: () => void;
}

/** A failure: what happened, what to do, and the id to look it up in the log. Read out when it appears. */
export function FailureNotice(props: FailureNoticeProps) {
  const { failure, title, unknownRemedy = safeToRepeat, onRetry, retryLabel = 'Try again', onReset } = props;
  const element = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // A long dialog or form may be scrolled away from it.
    if (failure && element.current?.closest('dialog, form')) element.current.scrollIntoView({ block: 'center' });
  }, [failure]);
  return (
    <div role="alert" ref={element}>
      {failure && (
        <div className="notice bad">
          <WarningIcon />
          <div className="notice-text">
            <strong>{failure.isOutcomeUnknown ? unknownTitle : title}</strong>
            <p>{failure.retryAfterSeconds ? failure.message.replace(retryAfterSentence, '') : failure.message}</p>
            {failure.issues.length > 1 && (
              <ul>
                {failure.issues.map(({ path, message }) => (
                  <li key={`${path.join('.')} ${message}`}>
                    {path.length > 0 && <code>{path.join('.')}</code>} {message}
                  </li>
                ))}
              </ul>
            )}
            {failure.retryAfterSeconds ? (
              <p>Try again in {failure.retryAfterSeconds === 1 ? 'a second' : `${failure.retryAfterSeconds} seconds`}.</p>
            ) : (
              remedies[failure.code] && <p>{remedies[failure.code]}</p>
            )}
            {failure.isOutcomeUnknown && <p>{unknownRemedy}</p>}
            <p className="failure-facts">
              {failure.code === 'NETWORK' ? (
                <code>{failure.code}</code>
              ) : (
                <a href={outsideHref(`docs/errors/${failure.code}`)}>{failure.code}</a>
              )}
              {failure.requestId && (
                <span>
                  Request id <code>{failure.requestId}</code>
                  <CopyButton text={failure.requestId} label="Copy the request id" />
                </span>
              )}
            </p>
            {failure.code === 'INVALID_INPUT' && onReset ? (
              <Button onClick={onReset} className="small">
                Show the whole list
              </Button>
            ) : (
              onRetry && (
                <Button onClick={onRetry} className="small">
                  {retryLabel}
                </Button>
              )
            )}
          </div>
        </div>
      )}
    </div>
  );
}
