import { openApiDocument } from './openapi.ts';
import { type Example, errorResponses, type MediaType } from './openapi-document.ts';

/** The content of a request or response of `openapi.yaml`; nothing if it has none. */
export const contentOf = ({ content = {} }: { readonly content?: Readonly<Record<string, MediaType>> } = {}) =>
  Object.values(content)[0];

/** The examples of errors, by their codes. */
export const errorExamples: [code: string, example: Example][] = errorResponses(openApiDocument).flatMap((response) =>
  Object.entries(contentOf(response)?.examples ?? {}),
);

/** A body without what differs each time. */
export function comparable(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value), (name, member) => {
    if (['request_id', 'occurred_at', 'cursor'].includes(name)) return 'any';
    if (name === 'id') return 'any';
    if (name === 'token') return String(member).replace(/^[a-z]+_[0-9A-Za-z]{36}$|^eyJ[\w-]+\.[\w-]+\.[\w-]+$/, 'any');
    if (name === 'expires_at') return String(member).length;
    if (name === 'x' || name === 'kid') return String(member).length;
    // What follows is the JSON parser's own text, which differs between versions of Node.js.
    if (name === 'detail') return String(member).replace(/(?<=is not valid JSON: ).*/, '');
    return member;
  });
}
