import type { ReactNode } from 'react';

interface EmptyStateProps {
  readonly title: string;
  readonly children?: ReactNode;
}

/** What stands in the place of a list that has nothing. */
export function EmptyState({ title, children }: EmptyStateProps) {
  return (
    <div className="empty">
      <h2>{title}</h2>
      {children}
    </div>
  );
}

/** Gray bars where rows will be, while a list is loaded for the first time. */
export function LoadingRows({ rows = 8 }: { readonly rows?: number }) {
  return (
    <div className="loading" role="status">
      <span className="visually-hidden">Loading …</span>
      {Array.from({ length: rows }, (_, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the bars have nothing else
        <div className="bar" key={index} />
      ))}
    </div>
  );
}
