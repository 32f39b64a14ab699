import documents from '../../src/generated/console-operations.json' with { type: 'json' };

/** The documents that the web console sends, by the names of their operations. */
export const consoleOperations: Readonly<Record<string, string>> = Object.fromEntries(
  Object.values(documents).map((text) => [/(?:query|mutation) (\w+)/.exec(text)?.[1], text]),
);
