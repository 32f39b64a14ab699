import { useEditorContext } from '@graphiql/react';
import { type RefObject, useEffect } from 'react';
import { format } from '../raw-json.ts';

/** A function that returns the text of the variables of the tab that is shown. */
export type VariablesText = RefObject<() => string>;

/**
 * Sets the function, inside of GraphiQL: a fetcher gets only what `JSON.parse` has made of the text. Has Prettify keep numbers
 * and duplicates as they are. Renders nothing.
 */
export function ReadVariables({ text }: { readonly text: VariablesText }) {
  const { variableEditor } = useEditorContext({ nonNull: true });
  useEffect(() => {
    text.current = () => variableEditor?.getValue() ?? '';
  }, [text, variableEditor]);
  useEffect(() => {
    variableEditor?.on('beforeChange', keepTokens);
    return () => variableEditor?.off('beforeChange', keepTokens);
  }, [variableEditor]);
  return null;
}

type Editor = NonNullable<ReturnType<typeof useEditorContext>>['variableEditor'];
type Change = {
  readonly text: string[];
  readonly origin?: string | undefined;
  readonly update?: (from?: undefined, to?: undefined, text?: string[]) => void;
};

/** Replaces what Prettify makes of the variables, which is what `JSON.parse` has left of them. */
function keepTokens(editor: NonNullable<Editor>, { text, origin, update }: Change): void {
  // What a person types or pastes is what they want.
  if (origin !== 'setValue') return;
  const written = editor.getValue();
  const formatted = format(written);
  if (formatted === undefined || text.join('\n') !== JSON.stringify(JSON.parse(written), null, 2)) return;
  update?.(undefined, undefined, formatted.split('\n'));
}
