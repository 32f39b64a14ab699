import { useEditorContext } from '@graphiql/react';
import { type RefObject, useEffect } from 'react';

/** A function that returns the text of the variables of the tab that is shown. */
export type VariablesText = RefObject<() => string>;

/** Sets the function, inside of GraphiQL: a fetcher gets only what `JSON.parse` has made of the text. Renders nothing. */
export function ReadVariables({ text }: { readonly text: VariablesText }) {
  const { variableEditor } = useEditorContext({ nonNull: true });
  useEffect(() => {
    text.current = () => variableEditor?.getValue() ?? '';
  }, [text, variableEditor]);
  return null;
}
