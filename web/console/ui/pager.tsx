import { Button } from './button.tsx';

/** Where a page of a list begins and ends. */
export interface PageInfo {
  readonly hasNextPage: boolean;
  readonly hasPreviousPage: boolean;
  readonly startCursor: string | null;
  readonly endCursor: string | null;
}

/** The position of a page in a list; the first page if it has neither. */
export interface PagePosition {
  readonly after?: string;
  readonly before?: string;
}

interface PagerProps {
  readonly pageInfo: PageInfo | undefined;
  readonly isFirstPage: boolean;
  /** Whether another list, such as one with another filter, is still loading: the cursors are not of that one. */
  readonly isOutdated: boolean;
  readonly onMove: (position: PagePosition) => void;
  readonly children?: React.ReactNode;
}

/** Buttons to the pages before and after. They keep the focus while a page loads. */
export function Pager({ pageInfo, isFirstPage, isOutdated, onMove, children }: PagerProps) {
  const { hasNextPage = false, hasPreviousPage = false, startCursor, endCursor } = pageInfo ?? {};
  return (
    <nav className="pager" aria-label="Pages of the list">
      <div className="pager-text">{children}</div>
      <Button className="small" disabled={isFirstPage} onClick={() => onMove({})}>
        First
      </Button>
      <Button
        className="small"
        disabled={!hasPreviousPage || !startCursor}
        onClick={() => startCursor && !isOutdated && onMove({ before: startCursor })}
      >
        Previous
      </Button>
      <Button
        className="small"
        disabled={!hasNextPage || !endCursor}
        onClick={() => endCursor && !isOutdated && onMove({ after: endCursor })}
      >
        Next
      </Button>
    </nav>
  );
}

/** The arguments of a connection for a page at this position. */
export function pageArguments({ after, before }: PagePosition, size: number) {
  return before === undefined ? { first: size, after: after ?? null } : { last: size, before };
}
