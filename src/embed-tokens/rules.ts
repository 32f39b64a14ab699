import type { Issue } from '../errors.ts';
import { assertNoIssues, type InputCheck, isOrigin, type Json, propertiesIssues, textIssues, type Unchecked } from '../input.ts';
import { selectorIssues, type UncheckedBy } from '../user-groups/user-groups.ts';
import { maxEmbedTokenSeconds } from './signing-keys.ts';

/** The limits of embed tokens. docs/limits.md lists the same figures. */
export const embedTokenLimits = {
  minEmbedTokenSeconds: 60,
  maxEmbedTokenSeconds,
  /** Bytes of an embed token, which is sent in headers: proxies accept 8 KiB of them. */
  maxEmbedTokenBytes: 6_144,
  maxEmbedTokenResources: 50,
} as const;

/** How long an embed token is valid if the caller does not say, in seconds. */
export const defaultEmbedTokenSeconds = 900;

const { minEmbedTokenSeconds, maxEmbedTokenResources } = embedTokenLimits;

/** Who views within a group; null counts as omitted. */
export interface Viewer {
  /** The caller's own identifier for the viewer: 1 to 255 characters. */
  readonly id: string;
  readonly name?: string | null | undefined;
  readonly email?: string | null | undefined;
  /** A JSON object. */
  readonly attributes?: Json | undefined;
}

/** The members of a new embed token; null counts as omitted. */
export interface EmbedTokenInput {
  /** For whom it is meant: 1 to 255 characters. By default, the token names no audience. */
  readonly audience?: string | null | undefined;
  /** How long it is valid, in seconds: 60 to 86,400; 900 by default. */
  readonly expiresInSeconds?: number | null | undefined;
  /** Whether it contains the group's properties; `false` by default. */
  readonly includeProperties?: boolean | null | undefined;
  readonly viewer?: Viewer | null | undefined;
  /** What it opens, by the caller's own names: at most 50, of 1 to 255 characters. */
  readonly resources?: readonly string[] | null | undefined;
  /** The origin of the page that embeds, as browsers send it: at most 255 characters. */
  readonly origin?: string | null | undefined;
}

type UncheckedInput = Unchecked<keyof EmbedTokenInput> & { readonly by: UncheckedBy };

/** Checks the input of a new embed token, of any types: the selector, and the other members. */
export const checkEmbedToken: InputCheck<UncheckedInput> = (input) => assertNoIssues(embedTokenIssues(input));

/** Checks the input of a revocation: the selector and the viewer. */
export const checkRevocation: InputCheck<Unchecked<'viewerId'> & { readonly by: UncheckedBy }> = ({ by, viewerId }) =>
  assertNoIssues([...selectorIssues(by), ...optional(textIssues, ['viewerId'], viewerId)]);

function* embedTokenIssues(input: UncheckedInput): Generator<Issue> {
  const { by, audience, expiresInSeconds, includeProperties, viewer, resources, origin } = input;
  yield* selectorIssues(by);
  yield* optional(textIssues, ['audience'], audience);
  if (expiresInSeconds != null && !isLifetime(expiresInSeconds)) {
    const message = `must be a whole number from ${minEmbedTokenSeconds} to ${maxEmbedTokenSeconds}.`;
    yield { path: ['expiresInSeconds'], message };
  }
  if (includeProperties != null && typeof includeProperties !== 'boolean') {
    yield { path: ['includeProperties'], message: 'must be true or false.' };
  }
  yield* optional(viewerIssues, ['viewer'], viewer);
  yield* optional(resourceIssues, ['resources'], resources);
  yield* optional(originIssues, ['origin'], origin);
}

type Check = (path: Issue['path'], value: unknown) => Iterable<Issue>;

const optional = (check: Check, path: Issue['path'], value: unknown): Iterable<Issue> =>
  value == null ? [] : check(path, value);

function* viewerIssues(path: Issue['path'], viewer: unknown): Generator<Issue> {
  if (typeof viewer !== 'object' || Array.isArray(viewer)) return yield { path, message: 'must be an object.' };
  const { id, name, email, attributes } = viewer as Unchecked<keyof Viewer>;
  yield* textIssues([...path, 'id'], id);
  yield* optional(textIssues, [...path, 'name'], name);
  yield* optional(textIssues, [...path, 'email'], email);
  yield* optional(propertiesIssues, [...path, 'attributes'], attributes);
}

function* resourceIssues(path: Issue['path'], resources: unknown): Generator<Issue> {
  if (!Array.isArray(resources)) return yield { path, message: 'must be a list of strings.' };
  if (resources.length > maxEmbedTokenResources) {
    return yield { path, message: `must have at most ${maxEmbedTokenResources} strings.` };
  }
  for (const [index, resource] of resources.entries()) yield* textIssues([...path, index], resource);
}

/** An origin of another scheme than HTTP's, such as `capacitor://localhost`. */
const otherOrigin = /^(?!https?:)[a-z][a-z0-9+.-]*:\/\/[^\s/?#@\\]+$/;

function* originIssues(path: Issue['path'], origin: unknown): Generator<Issue> {
  const issues = textIssues(path, origin);
  if (issues.length > 0) yield* issues;
  else if (!isOrigin(origin as string) && !otherOrigin.test(origin as string)) {
    yield {
      path,
      message:
        'must be an origin as browsers send it, such as https://app.example.com: in lower case, without a path or a default port.',
    };
  }
}

function isLifetime(seconds: unknown): boolean {
  return Number.isInteger(seconds) && (seconds as number) >= minEmbedTokenSeconds && (seconds as number) <= maxEmbedTokenSeconds;
}
