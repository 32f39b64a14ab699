import { type FocusEvent, type FormEvent, useEffect, useRef, useState } from 'react';
import { useSession } from '../app/session.tsx';
import { environments } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { DayField, DayRange, SelectField, TextField, verbatim } from '../ui/field.tsx';
import { CloseIcon, SearchIcon } from '../ui/icons.tsx';
import { isLeft } from '../ui/left.ts';
import { containsToken, withoutToken } from '../ui/token-text.ts';
import {
  countFurtherFilters,
  initialState,
  type ListState,
  maxProperties,
  pageSizes,
  parseProperty,
  statuses,
  textFilters,
} from './list-state.ts';

/** How long to wait for the next key before the list is searched. */
const typingMs = 150;

/** The most that a search may have, in UTF-16 units: 255 characters. The field shows what is left of a longer text. */
const maxSearchUnits = 510;

const tokenError = 'A token is not searched for here: a filter is in the URL.';

interface FiltersProps {
  readonly state: ListState;
  readonly onChange: (change: Partial<ListState>, options?: { replace: boolean }) => void;
  /** Called with a text that is not a search, because it has a token or a part of one; with undefined after it. */
  readonly onToken: (text: string | undefined) => void;
}

/** The search and the filters of the list. */
export function Filters({ state, onChange, onToken }: FiltersProps) {
  const { can } = useSession();
  const further = countFurtherFilters(state);
  /** Stays open without a filter: a person may empty a field to type something else. */
  const [isOpen, setIsOpen] = useState(false);
  return (
    <search className="filters">
      <SearchField
        value={state.search}
        onChange={(text) => {
          onToken(containsToken(text) ? text : undefined);
          onChange({ search: withoutToken(text) }, { replace: true });
        }}
      />
      {can('ADMIN') && (
        <SelectField
          label="Environment"
          isLabelHidden
          value={state.environment}
          options={[{ value: '', label: 'All environments' }, ...environments]}
          onChange={(environment) => onChange({ environment })}
        />
      )}
      <SelectField
        label="Groups per page"
        isLabelHidden
        value={String(state.size)}
        options={pageSizes.map((size) => ({ value: String(size), label: `${size} per page` }))}
        onChange={(size) => onChange({ size: Number(size) })}
      />
      <details
        className="further-filters"
        open={isOpen || further > 0}
        onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}
      >
        <summary>{further > 0 ? `More filters (${further})` : 'More filters'}</summary>
        <div className="further-body">
          <SelectField
            label="Status"
            value={state.status}
            options={[{ value: '', label: 'Active and suspended' }, ...statuses]}
            onChange={(status) => onChange({ status })}
          />
          <PropertyFilters properties={state.properties} onChange={(properties) => onChange({ properties })} />
          <DayRange
            label="Created"
            {...{ from: state.createdFrom, to: state.createdTo }}
            onChange={(createdFrom, createdTo) => onChange({ createdFrom, createdTo })}
          />
          <DayRange
            label="Updated"
            {...{ from: state.updatedFrom, to: state.updatedTo }}
            onChange={(updatedFrom, updatedTo) => onChange({ updatedFrom, updatedTo })}
          />
          <DayField
            label="Not seen since"
            hint="No token of the group was looked up since then."
            value={state.notSeenSince}
            onChange={(notSeenSince) => onChange({ notSeenSince })}
          />
          {textFilters.map(({ key, label }) => (
            <TextFilter
              key={key}
              label={label}
              value={state[key] ?? ''}
              onChange={(text) => onChange({ [key]: withoutToken(text) }, { replace: true })}
            />
          ))}
          {further > 0 && (
            <Button
              className="small"
              onClick={() => {
                setIsOpen(false);
                const { search, environment, sort, direction, size } = state;
                onChange({ ...initialState, search, environment, sort, direction, size });
              }}
            >
              Remove these filters
            </Button>
          )}
        </div>
      </details>
    </search>
  );
}

interface TypedTextProps {
  /** Never a token: it is in the URL. */
  readonly value: string;
  readonly onChange: (text: string) => void;
}

/** The text of a field, and what changes it: the value follows when the person has stopped typing. */
function useTypedText({ value, onChange }: TypedTextProps) {
  const [text, setText] = useState(value);
  const sent = useRef(value);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);

  useEffect(() => {
    // The value has come from elsewhere, such as the back button.
    if (value === sent.current) return;
    clearTimeout(timer.current);
    sent.current = value;
    setText(value);
  }, [value]);
  useEffect(() => () => clearTimeout(timer.current), []);

  const type = (next: string) => {
    setText(next);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => {
      const typed = next.trim();
      sent.current = withoutToken(typed);
      onChange(typed);
    }, typingMs);
  };
  return [text, type] as const;
}

/** The search: `/` puts the cursor into it. */
function SearchField(props: TypedTextProps) {
  const [text, type] = useTypedText(props);
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    const focus = (event: KeyboardEvent) => {
      const isTyping =
        event.target instanceof Element && event.target.closest('input, textarea, select, dialog, [contenteditable]');
      if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      input.current?.focus();
    };
    addEventListener('keydown', focus);
    return () => removeEventListener('keydown', focus);
  }, []);

  return (
    <div className="search-field">
      <SearchIcon />
      <input
        ref={input}
        type="search"
        className="input"
        aria-label="Search by name, provided id, team id or token"
        placeholder="Search by name, provided id, team id or token"
        maxLength={maxSearchUnits}
        {...verbatim}
        value={text}
        onChange={(event) => type(event.target.value)}
      />
      <kbd>/</kbd>
    </div>
  );
}

/** The value that an attribute must have. */
function TextFilter({ label, ...props }: TypedTextProps & { readonly label: string }) {
  const [text, type] = useTypedText(props);
  const error = containsToken(text) ? tokenError : undefined;
  return <TextField label={label} hint="The whole value." error={error} value={text} onChange={type} />;
}

interface PropertyFiltersProps {
  readonly properties: readonly string[];
  readonly onChange: (properties: readonly string[]) => void;
}

function PropertyFilters({ properties, onChange }: PropertyFiltersProps) {
  const [text, setText] = useState('');
  const [error, setError] = useState<string>();
  const add = () => {
    const given = text.trim();
    // Leaving the field for the button has added it, in browsers where a click does not move the focus.
    if (!given) return setError(undefined);
    if (containsToken(given)) return setError(tokenError);
    if (!parseProperty(given)) return setError('Expected a path, an equals sign and a value, such as plan=gold.');
    if (properties.length >= maxProperties) return setError(`At most ${maxProperties} properties.`);
    setError(undefined);
    setText('');
    if (!properties.includes(given)) onChange([...properties, given]);
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    add();
  };
  // What stays in the field looks like a filter.
  const leave = (event: FocusEvent) => {
    if (text.trim() && (isLeft(event) || event.relatedTarget?.closest('.chips'))) add();
  };
  return (
    <form className="property-filters" onSubmit={submit} onBlur={leave}>
      <TextField
        label="Property"
        placeholder="plan=gold"
        hint="Path and value: address.city=Berlin. A value that is JSON is compared as JSON: seats=5, trial=true."
        error={error}
        value={text}
        onChange={setText}
      />
      <Button type="submit">Add</Button>
      {properties.length > 0 && (
        <ul className="chips" aria-label="Properties that the groups must have">
          {properties.map((property) => (
            <li key={property}>
              <code>{property}</code>
              <Button
                variant="quiet"
                className="icon-only small"
                aria-label={`Remove the filter ${property}`}
                onClick={() => onChange(properties.filter((other) => other !== property))}
              >
                <CloseIcon />
              </Button>
            </li>
          ))}
        </ul>
      )}
    </form>
  );
}
