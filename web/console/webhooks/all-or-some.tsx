import { type ReactNode, useId } from 'react';

interface AllOrSomeProps<Value extends string> {
  readonly legend: string;
  readonly allLabel: string;
  readonly options: readonly { readonly value: Value; readonly label: ReactNode; readonly hint?: string | undefined }[];
  /** What is chosen; null means all, also those that do not exist yet. */
  readonly value: ReadonlySet<Value> | null;
  readonly error: string | undefined;
  readonly onChange: (value: ReadonlySet<Value> | null) => void;
}

/** Chooses all of a few values, or some of them. */
export function AllOrSome<Value extends string>({ legend, allLabel, options, value, error, onChange }: AllOrSomeProps<Value>) {
  const errorId = useId();
  const toggle = (option: Value) => {
    const next = new Set(value);
    if (!next.delete(option)) next.add(option);
    onChange(next);
  };
  return (
    <fieldset className="scope-choices" aria-invalid={error ? true : undefined} aria-describedby={error && errorId}>
      <legend>{legend}</legend>
      <label className="check-label">
        <input type="checkbox" checked={value === null} onChange={() => onChange(value === null ? new Set() : null)} />
        <span>{allLabel}</span>
      </label>
      {value !== null && (
        <div className="some-choices">
          {options.map((option) => (
            <label key={option.value} className="check-label">
              <input type="checkbox" checked={value.has(option.value)} onChange={() => toggle(option.value)} />
              <span>
                {option.label}
                {option.hint && <span className="hint">{option.hint}</span>}
              </span>
            </label>
          ))}
        </div>
      )}
      {error && (
        <p className="field-error" id={errorId}>
          {error}
        </p>
      )}
    </fieldset>
  );
}
