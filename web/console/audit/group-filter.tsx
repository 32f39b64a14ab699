import { type FormEvent, useState } from 'react';
import { Button } from '../ui/button.tsx';
import { TextField } from '../ui/field.tsx';
import { CloseIcon } from '../ui/icons.tsx';
import { containsToken } from '../ui/token-text.ts';

interface GroupFilterProps {
  /** The globally unique id of a group, from a link; it finds the events of a deleted group too. */
  readonly groupId: string;
  readonly providedId: string;
  /** The number of an API token. */
  readonly apiTokenId: string;
  readonly onChange: (change: { group?: string; 'provided-id'?: string; token?: string }) => void;
}

/** Filters by group and by API token, sent with Enter. */
export function GroupFilter({ groupId, providedId, apiTokenId, onChange }: GroupFilterProps) {
  const [group, setGroup] = useState(providedId);
  const [token, setToken] = useState(apiTokenId);
  const isToken = containsToken(group);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isToken) return;
    onChange({ 'provided-id': group, token: token.trim() });
  };
  return (
    <form className="filters inline" onSubmit={submit}>
      {groupId ? (
        <ul className="chips" aria-label="Filter">
          <li>
            One group
            <Button
              variant="quiet"
              className="icon-only small"
              aria-label="Show every group"
              onClick={() => onChange({ group: '' })}
            >
              <CloseIcon />
            </Button>
          </li>
        </ul>
      ) : (
        <TextField
          label="Group"
          placeholder="provided id"
          error={isToken ? 'This is a token. Search for it among the groups.' : undefined}
          value={group}
          onChange={setGroup}
        />
      )}
      <TextField
        label="API token"
        placeholder="its number"
        inputMode="numeric"
        pattern="[0-9]*"
        maxLength={10}
        value={token}
        onChange={setToken}
      />
      <Button type="submit">Filter</Button>
    </form>
  );
}
