import { type FormEvent, useEffect, useRef, useState } from 'react';
import { useSession } from '../app/session.tsx';
import { Failure } from '../graphql/failure.ts';
import { RawJson } from '../graphql/raw-json.ts';
import { CodeEditor } from '../ui/code-editor.tsx';
import type { Editor } from '../ui/editor.ts';
import { FailureNotice } from '../ui/failure-notice.tsx';
import { Section } from '../ui/section.tsx';
import type { GroupSectionProps } from './group.tsx';
import { SaveButtons } from './save-buttons.tsx';
import { useUpdate } from './use-update.ts';

/** The properties, as JSON to edit. */
export function PropertiesSection(props: GroupSectionProps) {
  const { group } = props;
  const { can } = useSession();
  const isEditable = can('groups:write');
  const stored = print(group.properties);
  const [text, setText] = useState(stored);
  const shown = useRef(stored);
  const [syntaxError, setSyntaxError] = useState<Failure>();
  const editor = useRef<Editor>(undefined);
  const update = useUpdate(props);

  // biome-ignore lint/correctness/useExhaustiveDependencies: only a change of the stored text replaces it
  useEffect(() => {
    if (text === shown.current) {
      setText(stored);
      editor.current?.setText(stored);
    }
    shown.current = stored;
  }, [stored]);

  const forgetFailure = () => {
    setSyntaxError(undefined);
    update.reset();
  };
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    forgetFailure();
    const properties = read(text);
    if (properties instanceof Failure) return setSyntaxError(properties);
    const saved = await update.run({ properties });
    if (saved) editor.current?.setText(print(saved.properties));
  };
  return (
    <Section
      title="Properties"
      description="A JSON object, available as variables in dashboards and the SQL editor. Empty means none."
    >
      <form onSubmit={(event) => void submit(event)}>
        <FailureNotice title="The properties were not saved" failure={syntaxError ?? update.failure} />
        <CodeEditor
          className="properties-editor"
          ref={editor}
          label="Properties as JSON"
          initialText={text}
          isReadOnly={!isEditable}
          checksSyntax
          onChange={(current) => {
            setText(current());
            forgetFailure();
          }}
        />
        {isEditable && (
          <SaveButtons
            label="Save the properties"
            isChanged={text !== stored}
            isSaving={update.isRunning}
            onDiscard={() => {
              editor.current?.setText(stored);
              forgetFailure();
            }}
          />
        )}
      </form>
    </Section>
  );
}

function print(properties: unknown): string {
  return properties == null ? '' : JSON.stringify(properties, null, 2);
}

/** The text as what the API takes; a failure if it is not a JSON object. */
function read(text: string): RawJson | null | Failure {
  if (text.trim() === '') return null;
  try {
    return text.trimStart().startsWith('{') ? new RawJson(text) : new Failure('INVALID_INPUT', 'Expected a JSON object: { … }.');
  } catch (error) {
    return new Failure('MALFORMED_JSON', `The text is not JSON: ${(error as Error).message}.`);
  }
}
