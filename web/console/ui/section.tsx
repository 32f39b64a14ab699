import { type ReactNode, useId } from 'react';

interface SectionProps {
  readonly title: string;
  readonly description?: ReactNode;
  /** Buttons beside the title. */
  readonly actions?: ReactNode;
  readonly tone?: 'danger';
  readonly children?: ReactNode;
}

/** A part of a page with a title of its own. */
export function Section({ title, description, actions, tone, children }: SectionProps) {
  const id = useId();
  return (
    <section className={`panel ${tone ?? ''}`} aria-labelledby={id}>
      <header className="panel-header">
        <div>
          <h2 id={id}>{title}</h2>
          {description && <p className="muted">{description}</p>}
        </div>
        {actions && <div className="actions">{actions}</div>}
      </header>
      {children}
    </section>
  );
}
