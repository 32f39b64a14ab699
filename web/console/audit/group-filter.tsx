import { type FocusEvent, type FormEvent, useState } from 'react';
import { Button } from '../ui/button.tsx';
import { TextField } from '../ui/field.tsx';
import { CloseIcon } from '../ui/icons.tsx';
import { isLeft } from '../ui/left.ts';
import { containsToken } from '../ui/token-text.ts';

interface GroupFilterProps {
  /** The globally unique id of a group, from a link; it finds the events of a deleted group too. */
  readonly groupId: string;
  readonly providedId: string;
  /** The globally unique id of an API token, from a link. */
  readonly apiTokenId: string;
  readonly onChange: (change: { group?: string; 'provided-id'?: string; token?: string }) => void;
}

/** Filters by group, sent with Enter, and by what a link chose. */
export function GroupFilter({ groupId, providedId, apiTokenId, onChange }: GroupFilterProps) {
  const [group, setGroup] = useState(providedId);
  const isToken = containsToken(group);
  /** What is not applied yet. */
  const typed = () => (!isToken && group !== providedId ? { 'provided-id': group } : undefined);
  const apply = () => {
    const change = typed();
    if (change) onChange(change);
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    apply();
  };
  // What stays in the field looks like a filter.
  const leave = (event: FocusEvent) => {
    if (isLeft(event)) apply();
  };
  return (
    <form className="filters inline" onSubmit={submit} onBlur={leave}>
      {(groupId || apiTokenId) && (
        <ul className="chips" aria-label="Filter">
          {groupId && <Chip label="One group" removeLabel="Show every group" onRemove={() => onChange({ group: '' })} />}
          {apiTokenId && (
            <Chip label="One API token" removeLabel="Show every API token" onRemove={() => onChange({ token: '', ...typed() })} />
          )}
        </ul>
      )}
      {!groupId && (
        <>
          <TextField
            label="Group"
            placeholder="provided id"
            error={isToken ? 'This is a token. Search for it among the groups.' : undefined}
            value={group}
            onChange={setGroup}
          />
          <Button type="submit">Filter</Button>
        </>
      )}
    </form>
  );
}

interface ChipProps {
  readonly label: string;
  readonly removeLabel: string;
  readonly onRemove: () => void;
}

function Chip({ label, removeLabel, onRemove }: ChipProps) {
  return (
    <li>
      {label}
      <Button variant="quiet" className="icon-only small" aria-label={removeLabel} onClick={onRemove}>
        <CloseIcon />
      </Button>
    </li>
  );
}
