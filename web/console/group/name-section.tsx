import { type FormEvent, useState } from 'react';
import { FailureNotice } from '../ui/failure-notice.tsx';
import { maxTextUnits, TextField } from '../ui/field.tsx';
import { Section } from '../ui/section.tsx';
import { Choice } from './choice.tsx';
import type { GroupSectionProps } from './group.tsx';
import { SaveButtons } from './save-buttons.tsx';
import { type Edited, type Part, useUpdate } from './use-update.ts';

const namePart: Part<string> = { valueIn: ({ name }) => name, changeTo: (name) => ({ name }) };

/** The display name. */
export function NameSection(props: GroupSectionProps) {
  const { group } = props;
  /** Undefined while the field shows what is stored, which may change at any time. */
  const [draft, setDraft] = useState<Edited<string>>();
  const name = draft?.value ?? group.name;
  const update = useUpdate(props, namePart);
  const choice = update.choiceFor(name);
  const save = async (edited: Edited<string>) => {
    if (await update.save(edited)) setDraft(undefined);
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
    setDraft(value === base.name ? undefined : { base, value });
  };
  return (
    <Section title="Name">
      <form onSubmit={submit} onInput={update.resetFailure}>
        <FailureNotice title="The name was not saved" failure={update.failure} />
        <Choice
          title="The name was not saved"
          differences={choice?.differences}
          whole="Display name"
          isSaving={update.isRunning}
          onSaveMine={() => choice && void save(choice.mine)}
          onTakeStored={discard}
        />
        <TextField
          label="Display name"
          isLabelHidden
          maxLength={maxTextUnits}
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
