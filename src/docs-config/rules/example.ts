/** Creates an example document: the minimum that is valid, plus the given fields. */
export function example(...fields: string[]): string {
  const least = ['"name": "Acme"', '"navigation": [{ "group": "Guides", "pages": ["guides/start", "guides/install"] }]'];
  return `{\n${[...least, ...fields].map((field) => `  ${field}`).join(',\n')}\n}\n`;
}

/** Creates an example document with the given navigation. */
export function navigation(value: string): string {
  return `{\n  "name": "Acme",\n  "navigation": ${value}\n}\n`;
}
