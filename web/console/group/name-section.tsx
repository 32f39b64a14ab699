import { type FormEvent, useState } from 'react';
import { FailureNotice } from '../ui/failure-notice.tsx';
import { TextField } from '../ui/field.tsx';
import { Section } from '../ui/section.tsx';
import type { GroupSectionProps } from './group.tsx';
import { SaveButtons } from './save-buttons.tsx';
import { useUpdate } from './use-update.ts';

/** The display name. */
export function NameSection(props: GroupSectionProps) {
  const { group } = props;
  const [name, setName] = useState(group.name);
  const update = useUpdate(props);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const saved = await update.run({ name });
    if (saved) setName(saved.name);
  };
  return (
    <Section title="Name">
      <form onSubmit={(event) => void submit(event)}>
        <FailureNotice title="The name was not saved" failure={update.failure} />
        <TextField
          label="Display name"
          isLabelHidden
          maxLength={255}
          required
          error={update.failure?.issueAt('name')}
          value={name}
          onChange={setName}
        />
        <SaveButtons
          label="Save the name"
          isChanged={name !== group.name}
          isSaving={update.isRunning}
          onDiscard={() => setName(group.name)}
        />
      </form>
    </Section>
  );
}
