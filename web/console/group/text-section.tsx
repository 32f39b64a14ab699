import { type FormEvent, useState } from 'react';
import { useSession } from '../app/session.tsx';
import { FailureNotice } from '../ui/failure-notice.tsx';
import { TextField } from '../ui/field.tsx';
import { Section } from '../ui/section.tsx';
import { Choice } from './choice.tsx';
import type { GroupSectionProps } from './group.tsx';
import { SaveButtons } from './save-buttons.tsx';
import { nounOf, type TextAttribute, titleOf } from './text-attributes.ts';
import { type Edited, lockedRemedy, type Part, useUpdate } from './use-update.ts';

/** A text; undefined for none. */
type Text = string | undefined;

interface TextSectionProps extends GroupSectionProps {
  readonly attribute: TextAttribute;
}

/** An attribute that is a line of text, such as the display name. */
export function TextSection({ attribute, ...props }: TextSectionProps) {
  const { group } = props;
  const { name, label, isRequired } = attribute;
  const isEditable = useSession().can('GROUPS_WRITE');
  const part: Part<Text> = {
    valueIn: (stored) => stored[name] ?? undefined,
    changeTo: (value) => ({ [name]: value ?? null }),
  };
  /** Undefined while the field shows what is stored, which may change at any time. */
  const [entered, setDraft] = useState<Edited<Text>>();
  const update = useUpdate(props, part, () => setDraft(undefined));
  const draft = entered && entered.value !== part.valueIn(entered.base) ? entered : undefined;
  const discard = () => {
    setDraft(undefined);
    update.reset();
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (draft) void update.save(draft);
  };
  const change = (text: string) => {
    // An undo elsewhere on the page may reach a field that is locked.
    if (!update.isLocked) setDraft({ base: draft?.base ?? group, value: text || isRequired ? text : undefined });
  };
  const noun = nounOf(attribute);
  return (
    <Section title={titleOf(attribute)}>
      <form onSubmit={submit} onInput={update.resetFailure}>
        <FailureNotice title={`The ${noun} was not saved`} failure={update.failure} unknownRemedy={lockedRemedy} />
        <Choice
          title={`The ${noun} was not saved`}
          whole={label}
          part={part}
          edited={draft}
          stored={update.mismatch}
          isSaving={update.isRunning}
          onSaveMine={(edited, over) => void update.save(edited, { over })}
          onTakeStored={discard}
        />
        <TextField
          label={label}
          isLabelHidden
          required={isRequired}
          readOnly={!isEditable || update.isLocked}
          error={update.failure?.issueAt(name)}
          value={(draft ? draft.value : group[name]) ?? ''}
          onChange={change}
        />
        {isEditable && (
          <SaveButtons
            label={`Save the ${noun}`}
            isChanged={draft !== undefined}
            isSaving={update.isRunning}
            onDiscard={discard}
          />
        )}
      </form>
    </Section>
  );
}
