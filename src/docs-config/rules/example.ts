/** An example file: the least that is valid, and the fields that an example is about. */
export function example(...fields: string[]): string {
  const least = ['"name": "Acme"', '"navigation": [{ "group": "Guides", "pages": ["guides/start", "guides/install"] }]'];
  return `{\n${[...least, ...fields].map((field) => `  ${field}`).join(',\n')}\n}\n`;
}

/** An example file whose navigation the example is about. */
export function navigation(value: string): string {
  return `{\n  "name": "Acme",\n  "navigation": ${value}\n}\n`;
}
