import { type FormEvent, useState } from 'react';
import { FailureNotice } from '../ui/failure-notice.tsx';
import { maxTextUnits, TextField } from '../ui/field.tsx';
import { Section } from '../ui/section.tsx';
import type { GroupSectionProps } from './group.tsx';
import { SaveButtons } from './save-buttons.tsx';
import { useUpdate } from './use-update.ts';

/** The display name. */
export function NameSection(props: GroupSectionProps) {
  const { group } = props;
  /** Undefined while the field shows what is stored, which may change at any time. */
  const [draft, setDraft] = useState<string>();
  const name = draft ?? group.name;
  const update = useUpdate(props);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (await update.run({ name })) setDraft(undefined);
  };
  return (
    <Section title="Name">
      <form onSubmit={(event) => void submit(event)} onInput={update.reset}>
        <FailureNotice title="The name was not saved" failure={update.failure} />
        <TextField
          label="Display name"
          isLabelHidden
          maxLength={maxTextUnits}
          required
          error={update.failure?.issueAt('name')}
          value={name}
          onChange={(next) => setDraft(next === group.name ? undefined : next)}
        />
        <SaveButtons
          label="Save the name"
          isChanged={draft !== undefined}
          isSaving={update.isRunning}
          onDiscard={() => {
            setDraft(undefined);
            update.reset();
          }}
        />
      </form>
    </Section>
  );
}
