import type { ReactNode, RefObject } from 'react';
import { changeOf } from '../audit/changes.ts';
import { WarningIcon } from '../ui/icons.tsx';
import type { Difference } from './merge.ts';

interface MismatchProps {
  /** What was not done. */
  readonly title: string;
  readonly differences: readonly Difference[];
  /** What the left values of the differences are. */
  readonly left: 'Yours' | 'Shown before';
  /** The name of the value as a whole, for a difference without a path. */
  readonly whole?: string;
  /** Why it was not done, and what can be done. */
  readonly children: ReactNode;
  /** Buttons for what can be done. */
  readonly actions?: ReactNode;
  readonly ref: RefObject<HTMLDivElement | null>;
}

/** A change that was not made because the group has changed: both values of what differs. Read out when it appears. */
export function Mismatch({ title, differences, left, whole, children, actions, ref }: MismatchProps) {
  return (
    <div role="alert" ref={ref}>
      <div className="notice warn">
        <WarningIcon />
        <div className="notice-text">
          <strong>{title}</strong>
          <p>{children}</p>
          {differences.length > 1 && <p>{differences.length.toLocaleString('en')} values differ:</p>}
          {differences.length > 0 && (
            // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, which has to work with the keyboard too
            <section className="mismatch-frame" tabIndex={0} aria-label="What differs">
              <table className="mismatch">
                <thead>
                  <tr>
                    <th scope="col">{left}</th>
                    <th scope="col">Stored now</th>
                  </tr>
                </thead>
                {differences.map(({ path, left: first, right: second }) => {
                  // In full: saving one's own value replaces all of the other one.
                  const texts = [textOf(first, second), textOf(second, first)] as const;
                  const { name, before, after } = changeOf(path.join('.'), ...texts, Number.POSITIVE_INFINITY);
                  return (
                    <tbody key={JSON.stringify(path)}>
                      <tr>
                        <th scope="rowgroup" colSpan={2}>
                          {name || whole}
                        </th>
                      </tr>
                      <tr>
                        <td>{before === undefined ? none : <code>{before}</code>}</td>
                        <td>{after === undefined ? none : <code>{after}</code>}</td>
                      </tr>
                    </tbody>
                  );
                })}
              </table>
            </section>
          )}
          {actions && <div className="form-footer">{actions}</div>}
        </div>
      </div>
    </div>
  );
}

const none = <span className="muted">none</span>;

/** A text is shown as it is, unless the other value is not a text: "5" and 5 are different. */
function textOf(value: unknown, other: unknown): string | undefined {
  const isPlain = typeof value === 'string' && value !== '' && (typeof other === 'string' || other === undefined);
  return isPlain ? value : JSON.stringify(value);
}
