/** A document of a file, whose text is not checked yet. */
export interface PersistedDocument {
  readonly id: string;
  readonly text: unknown;
}

const manifestFormat = 'apollo-persisted-query-manifest';

const expected = `expected an object with the text of a document under each id, or a manifest with "format": "${manifestFormat}"`;

/**
 * The documents of a file in one of its two formats: an object with the text of each document under its id, as Relay's compiler
 * (`persistConfig`) and GraphQL Code Generator (`persistedDocuments` of its client preset) write it, or a manifest of Apollo.
 *
 * @returns what is wrong, as a text, if the value has neither form.
 */
export function persistedDocumentsOf(value: unknown): readonly PersistedDocument[] | string {
  if (!isObject(value)) return expected;
  const { format, operations } = value;
  if (format !== manifestFormat || value['version'] !== 1 || !Array.isArray(operations)) {
    if (Array.isArray(operations) || format === manifestFormat) {
      return `expected "format": "${manifestFormat}", "version": 1 and a list of operations`;
    }
    return Object.entries(value).map(([id, text]) => ({ id, text }));
  }
  const wrong = operations.findIndex((operation) => !isObject(operation) || typeof operation['id'] !== 'string');
  if (wrong >= 0) return `operations.${wrong}: expected an object with id and body`;
  return operations.map(({ id, body }: { id: string; body: unknown }) => ({ id, text: body }));
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
