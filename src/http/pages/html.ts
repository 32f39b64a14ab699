/** Text that is HTML already. Only {@link html} creates it, so that everything else is escaped. */
export interface Html {
  readonly source: string;
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** Escapes text for HTML, as content and as a quoted attribute. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? character);
}

/**
 * Builds HTML from a template literal. Text and numbers are escaped; HTML and lists of HTML are inserted as they are.
 *
 * @example html`<p>${message}</p>`
 */
export function html(literals: TemplateStringsArray, ...values: readonly (string | number | Html | readonly Html[])[]): Html {
  let source = literals[0] ?? '';
  values.forEach((value, index) => {
    source += render(value) + (literals[index + 1] ?? '');
  });
  return { source };
}

function render(value: string | number | Html | readonly Html[]): string {
  if (typeof value === 'string' || typeof value === 'number') return escapeHtml(String(value));
  return 'source' in value ? value.source : value.map(({ source }) => source).join('');
}

/** Text with its parts between backticks as code. */
export function withCode(text: string): Html {
  return html`${text.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : html`${part}`))}`;
}
