import { type ComponentProps, type ReactNode, type SelectHTMLAttributes, useEffect, useId, useRef, useState } from 'react';
import { dayStart } from './days.ts';

interface LabelProps {
  readonly label: ReactNode;
  /** What is expected, in a short sentence. */
  readonly hint?: ReactNode;
  /** What is wrong with the value. */
  readonly error?: string | undefined;
  /** Whether only screen readers get the label. */
  readonly isLabelHidden?: boolean;
}

interface FieldProps extends LabelProps {
  readonly children: (ids: { id: string; 'aria-describedby': string | undefined; 'aria-invalid': true | undefined }) => ReactNode;
}

/** A control with its label, hint and error, all connected for screen readers. */
function Field({ label, hint, error, isLabelHidden = false, children }: FieldProps) {
  const id = useId();
  const described = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ');
  return (
    <div className="field">
      <label htmlFor={id} className={isLabelHidden ? 'visually-hidden' : undefined}>
        {label}
      </label>
      {children({ id, 'aria-describedby': described || undefined, 'aria-invalid': error ? true : undefined })}
      {hint && (
        <p className="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {error && (
        <p className="field-error" id={`${id}-error`}>
          {error}
        </p>
      )}
    </div>
  );
}

/** Whether a text has line breaks: a line of text neither shows them nor keeps them when it is edited. */
export const hasLineBreaks = (text: string): boolean => /[\n\r]/.test(text);

/** Browsers neither correct nor complete a line of text: it holds identifiers. */
export const verbatim = { autoComplete: 'off', autoCapitalize: 'off', autoCorrect: 'off', spellCheck: false } as const;

type TextFieldProps = LabelProps &
  Omit<ComponentProps<'input'>, 'value' | 'onChange'> & {
    readonly value: string;
    readonly onChange: (value: string) => void;
  };

/** A line of text. Browsers do not cut it: the gateway rejects long ones. */
export function TextField({ label, hint, error, isLabelHidden, value, onChange, ...props }: TextFieldProps) {
  return (
    <Field {...{ label, hint, ...(error !== undefined && { error }), ...(isLabelHidden && { isLabelHidden }) }}>
      {(ids) => (
        <input
          className="input"
          {...verbatim}
          value={value}
          onChange={(event) => onChange(event.target.value)}
          {...ids}
          {...props}
        />
      )}
    </Field>
  );
}

type SelectFieldProps<Value extends string> = LabelProps &
  Omit<SelectHTMLAttributes<HTMLSelectElement>, 'value' | 'onChange'> & {
    readonly value: Value;
    readonly options: readonly { readonly value: Value; readonly label: string }[];
    readonly onChange: (value: Value) => void;
  };

/** One of a few values. */
export function SelectField<Value extends string>(props: SelectFieldProps<Value>) {
  const { label, hint, error, isLabelHidden, value, options, onChange, ...others } = props;
  return (
    <Field {...{ label, hint, ...(error !== undefined && { error }), ...(isLabelHidden && { isLabelHidden }) }}>
      {(ids) => (
        <select className="input" value={value} onChange={(event) => onChange(event.target.value as Value)} {...ids} {...others}>
          {options.map((option) => (
            <option key={option.value} value={option.value}>
              {option.label}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

/** How long to wait for the next key. */
const typingMs = 300;

/**
 * A day such as `2026-01-31`; empty for none. The value stays as it was while its year is typed, which begins as 0002, and for a
 * day that does not exist or is not complete, which browsers show although they say that the field is empty.
 */
export function DayField({ value, onChange, error, ...props }: Omit<TextFieldProps, 'type' | 'onBlur'>) {
  const [typed, setTyped] = useState<string>();
  const [isNoDay, setIsNoDay] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  // Another value, such as that of the back button, replaces what was typed.
  useEffect(() => {
    clearTimeout(timer.current);
    setTyped(undefined);
    setIsNoDay(false);
    // React takes a day that does not exist for an empty field.
    if (field.current?.validity.badInput) field.current.value = value;
  }, [value]);
  const check = () => {
    const isBad = field.current?.validity.badInput === true;
    setIsNoDay(isBad);
    return isBad;
  };
  useEffect(() => () => clearTimeout(timer.current), []);
  const apply = (day: string) => {
    clearTimeout(timer.current);
    setTyped(undefined);
    onChange(day);
  };
  const type = (day: string) => {
    clearTimeout(timer.current);
    setTyped(day);
    // Not at once: an arrow key that is held passes many days, of which each would be an entry of the history.
    if (!check() && (day === '' || dayStart(day))) timer.current = setTimeout(() => apply(day), typingMs);
  };
  return (
    <TextField
      {...props}
      ref={field}
      type="date"
      error={isNoDay ? 'This day is not complete, or does not exist.' : error}
      value={typed ?? value}
      onChange={type}
      // The page says what is wrong with a day of another millennium.
      onBlur={() => !check() && typed !== undefined && apply(typed)}
    />
  );
}

interface DayRangeProps {
  readonly label: string;
  /** Days as `2026-01-31`; an empty text leaves that side open. */
  readonly from: string;
  readonly to: string;
  readonly onChange: (from: string, to: string) => void;
}

/** A range of days: neither end is after the other. */
export function DayRange({ label, from, to, onChange }: DayRangeProps) {
  return (
    <fieldset className="day-range">
      <legend>{label}</legend>
      <DayField label="From" value={from} max={to} onChange={(value) => onChange(value, to)} />
      <DayField label="To" value={to} min={from} onChange={(value) => onChange(from, value)} />
    </fieldset>
  );
}
