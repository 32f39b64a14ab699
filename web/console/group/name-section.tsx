import { type FormEvent, useState } from 'react';
import type { GroupDetailFragment } from '../graphql/generated.ts';
import { FailureNotice } from '../ui/failure-notice.tsx';
import { TextField } from '../ui/field.tsx';
import { Section } from '../ui/section.tsx';
import { Choice } from './choice.tsx';
import type { GroupSectionProps } from './group.tsx';
import { SaveButtons } from './save-buttons.tsx';
import { type Edited, editedSince, type Part, useUpdate } from './use-update.ts';

const namePart: Part<string> = { valueIn: ({ name }) => name, changeTo: (name) => ({ name }) };

/** The display name. */
export function NameSection(props: GroupSectionProps) {
  const { group } = props;
  /** Undefined while the field shows what is stored, which may change at any time. */
  const [draft, setDraft] = useState<Edited<string>>();
  const name = draft?.value ?? group.name;
  const update = useUpdate(props, namePart);
  const save = async (edited: Edited<string>, over?: GroupDetailFragment) => {
    const saved = await update.save(edited, over && { over });
    if (saved) setDraft(editedSince(edited, saved));
  };
  const discard = () => {
    setDraft(undefined);
    update.reset();
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (draft) void save(draft);
  };
  const change = (value: string) => {
    const base = draft?.base ?? group;
    setDraft(value === base.name && !update.isRunning ? undefined : { base, value });
  };
  return (
    <Section title="Name">
      <form onSubmit={submit} onInput={update.resetFailure}>
        <FailureNotice title="The name was not saved" failure={update.failure} />
        <Choice
          title="The name was not saved"
          whole="Display name"
          part={namePart}
          edited={draft}
          stored={update.mismatch}
          isSaving={update.isRunning}
          onSaveMine={(edited, over) => void save(edited, over)}
          onTakeStored={discard}
        />
        <TextField
          label="Display name"
          isLabelHidden
          required
          error={update.failure?.issueAt('name')}
          value={name}
          onChange={change}
        />
        <SaveButtons label="Save the name" isChanged={draft !== undefined} isSaving={update.isRunning} onDiscard={discard} />
      </form>
    </Section>
  );
}
