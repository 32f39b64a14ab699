import { type DocumentNode, type FieldNode, Kind, type OperationDefinitionNode, type SelectionSetNode } from 'graphql';
import { fragmentsOf } from './documents.ts';

/**
 * The fields that an operation selects on its root type, those of fragments included, each once. Skipped ones are not left out.
 */
export function rootFieldsOf(document: DocumentNode, { selectionSet }: OperationDefinitionNode): FieldNode[] {
  const fragments = fragmentsOf(document);
  const fields: FieldNode[] = [];
  const collect = ({ selections }: SelectionSetNode): void => {
    for (const selection of selections) {
      if (selection.kind === Kind.FIELD) fields.push(selection);
      else if (selection.kind === Kind.INLINE_FRAGMENT) collect(selection.selectionSet);
      else {
        const fragment = fragments.get(selection.name.value);
        fragments.delete(selection.name.value); // once only, however often it is spread, and even in a cycle
        if (fragment) collect(fragment.selectionSet);
      }
    }
  };
  collect(selectionSet);
  return fields;
}

/** The root fields that an operation executes at most, `__typename` aside: those with one response name are one. */
export function executedFieldsOf(document: DocumentNode, operation: OperationDefinitionNode): FieldNode[] {
  const fields = rootFieldsOf(document, operation).filter(({ name }) => name.value !== '__typename');
  return [...new Map(fields.map((field) => [(field.alias ?? field.name).value, field])).values()];
}
