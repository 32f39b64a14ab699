import type { ButtonHTMLAttributes } from 'react';

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  readonly variant?: 'primary' | 'secondary' | 'danger' | 'quiet';
  /** Whether what it starts is running: it then keeps the focus, but starts nothing. */
  readonly isBusy?: boolean;
}

/** The button of the latest click that counted. */
let clicked: EventTarget | undefined;

/**
 * A button; starts nothing of a form unless its type says so. The second click of a double click does not count on another
 * button, which the first has brought there, nor on one that sends something: the first may have been answered already.
 */
export function Button({ variant = 'secondary', isBusy, className = '', onClick, children, ...props }: ButtonProps) {
  return (
    <button
      type="button"
      className={`button ${variant} ${className}`}
      aria-disabled={isBusy || undefined}
      onClick={(event) => {
        const isRepeated = event.detail > 1 && (isBusy !== undefined || event.currentTarget !== clicked);
        if (isBusy || isRepeated) return event.preventDefault();
        clicked = event.currentTarget;
        onClick?.(event);
      }}
      {...props}
    >
      {isBusy && <span className="spinner" aria-hidden="true" />}
      {children}
    </button>
  );
}
