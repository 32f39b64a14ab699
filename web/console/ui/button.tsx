import type { ButtonHTMLAttributes } from 'react';

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  readonly variant?: 'primary' | 'secondary' | 'danger' | 'quiet';
  /** Whether what it starts is running: it then keeps the focus, but starts nothing. */
  readonly isBusy?: boolean;
}

/**
 * A button; starts nothing of a form unless its type says so. Of a double click only the first click counts: the second may hit
 * another button, which the first has brought there.
 */
export function Button({ variant = 'secondary', isBusy = false, className = '', onClick, children, ...props }: ButtonProps) {
  return (
    <button
      type="button"
      className={`button ${variant} ${className}`}
      aria-disabled={isBusy || undefined}
      onClick={(event) => (isBusy || event.detail > 1 ? event.preventDefault() : onClick?.(event))}
      {...props}
    >
      {isBusy && <span className="spinner" aria-hidden="true" />}
      {children}
    </button>
  );
}
