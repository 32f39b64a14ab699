import { type FormEvent, useEffect, useRef, useState } from 'react';
import { useSession } from '../app/session.tsx';
import { Failure } from '../graphql/failure.ts';
import { CodeEditor } from '../ui/code-editor.tsx';
import type { Editor } from '../ui/editor.ts';
import { FailureNotice } from '../ui/failure-notice.tsx';
import { Section } from '../ui/section.tsx';
import { Choice } from './choice.tsx';
import type { GroupSectionProps } from './group.tsx';
import { printProperties, propertiesPart, readProperties } from './properties-text.ts';
import { SaveButtons } from './save-buttons.tsx';
import { type Edited, lockedRemedy, type SaveOptions, useUpdate } from './use-update.ts';

const writtenDifferently = new Failure(
  'INVALID_INPUT',
  'Parts of the text would be written differently, such as 1.0 or a name that is given twice. Change them, or discard your changes.',
);

/** The properties, as JSON to edit. */
export function PropertiesSection(props: GroupSectionProps) {
  const { group } = props;
  const { can } = useSession();
  const isEditable = can('GROUPS_WRITE');
  const stored = printProperties(group.properties);
  /** The edited text; undefined while the editor shows what is stored, which may change at any time. */
  const [entered, setDraft] = useState<Edited<string>>();
  const [syntaxError, setSyntaxError] = useState<Failure>();
  const editor = useRef<Editor>(undefined);
  const update = useUpdate(props, propertiesPart, () => setDraft(undefined));
  const isStored = ({ base, value }: Edited<string>) => value === printProperties(base.properties);
  const draft = entered && !isStored(entered) ? entered : undefined;
  const text = draft?.value ?? stored;

  useEffect(() => {
    if (!draft && editor.current?.text() !== stored) editor.current?.setText(stored);
  }, [draft, stored]);

  const change = (value: string) => {
    setDraft({ base: draft?.base ?? group, value });
    setSyntaxError(undefined);
    update.resetFailure();
  };
  const discard = () => {
    setDraft(undefined);
    setSyntaxError(undefined);
    update.reset();
  };
  const save = async (edited: Edited<unknown>, options: SaveOptions) => {
    setSyntaxError(undefined);
    await update.save(edited, options);
  };
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (!draft) return;
    const properties = readProperties(draft.value);
    if (properties instanceof Failure) return setSyntaxError(properties);
    const { value, first } = properties;
    await save({ base: draft.base, value }, { first });
  };
  const read = update.mismatch && draft && readProperties(draft.value);
  const parsed = read instanceof Failure ? undefined : read;
  const edited = draft && parsed && { base: draft.base, value: parsed.value };
  const takeStored = (rest: Edited<unknown> | undefined) => {
    if (!rest) return discard();
    if (parsed?.first) return setSyntaxError(writtenDifferently);
    const value = printProperties(rest.value);
    editor.current?.setText(value);
    update.reset();
    setDraft({ base: rest.base, value });
  };
  return (
    <Section
      title="Properties"
      description="A JSON object, available as variables in dashboards and the SQL editor. Empty means none."
    >
      <form onSubmit={(event) => void submit(event)}>
        <FailureNotice
          title="The properties were not saved"
          failure={syntaxError ?? update.failure}
          unknownRemedy={lockedRemedy}
        />
        <Choice
          title="The properties were not saved"
          whole="All properties"
          part={propertiesPart}
          edited={edited}
          stored={update.mismatch}
          isSaving={update.isRunning}
          onSaveMine={(value, over) => void save(value, { first: parsed?.first, over })}
          onTakeStored={takeStored}
        />
        <CodeEditor
          className="properties-editor"
          ref={editor}
          label="Properties as JSON"
          initialText={text}
          isReadOnly={!isEditable || update.isLocked}
          checksSyntax
          onChange={(current) => change(current())}
        />
        {isEditable && (
          <SaveButtons
            label="Save the properties"
            isChanged={draft !== undefined}
            isSaving={update.isRunning}
            onDiscard={discard}
          />
        )}
      </form>
    </Section>
  );
}
