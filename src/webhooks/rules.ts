import type { EventType } from '../audit-log/events.ts';
import type { Issue } from '../errors.ts';
import type { EventEnvironment } from '../generated/prisma/client.ts';
import { newTextIssues } from '../input.ts';
import { checkAddress, literalAddress, RefusedDestination } from './destination.ts';

/** The limits of webhooks. */
export const webhookLimits = {
  /** The webhooks of an installation: each may take every event. */
  maxWebhooks: 100,
  /** The characters of a URL. */
  maxWebhookUrlLength: 2_048,
  /** The events that are sent again by their ids at a time. */
  maxRedeliveredIds: 100,
} as const;

const { maxWebhookUrlLength: maxUrlLength } = webhookLimits;

/** The properties of a webhook that are given; the others are undefined. */
export interface WebhookFields {
  /** Where events are sent to: an `https` URL, or an `http` URL of a permitted network. */
  readonly url?: string | null | undefined;
  /** At least one type; `null` means all. */
  readonly types?: readonly EventType[] | null | undefined;
  /** At least one environment; `null` means all, `None` among them. */
  readonly environments?: readonly EventEnvironment[] | null | undefined;
  /** 1 to 255 characters without control characters; `null` means none. */
  readonly description?: string | null | undefined;
}

/** The issues of the given properties of a webhook. @param networks the private networks that webhooks may reach, as CIDRs. */
export function* webhookIssues(
  { url, types, environments, description }: WebhookFields,
  networks: readonly string[],
): Generator<Issue> {
  const urlFault = url == null ? undefined : faultOfUrl(url, networks);
  if (urlFault) yield { path: ['url'], message: urlFault };
  for (const [name, list] of Object.entries({ types, environments })) {
    if (list?.length === 0) yield { path: [name], message: 'must not be empty. Send null for all.' };
  }
  if (description != null) yield* newTextIssues(['description'], description);
}

/** What is wrong with the URL of a webhook. Addresses that a name has are checked at each delivery. */
function faultOfUrl(text: string, networks: readonly string[]): string | undefined {
  const shape = `must be an https URL of at most ${maxUrlLength} characters, without credentials and without a fragment.`;
  if (text.length > maxUrlLength || !/^https?:\/\/[^\s\p{C}#]+$/iu.test(text) || !URL.canParse(text)) return shape;
  const { href, protocol, username, password } = new URL(text);
  if (href.length > maxUrlLength || username + password !== '') return shape;
  if (protocol === 'http:' && networks.length === 0) {
    return 'must begin with https: http is only permitted to the networks in WEBHOOKS_ALLOWED_NETWORKS, and it is not set.';
  }
  return faultOfAddress(new URL(text), networks);
}

/** Why the address that is the host of a URL must not be reached; nothing for a name. */
function faultOfAddress(url: URL, networks: readonly string[]): string | undefined {
  const address = literalAddress(url);
  if (address === undefined) return undefined;
  try {
    checkAddress(address, url.protocol, networks);
    return undefined;
  } catch (error) {
    if (!(error instanceof RefusedDestination)) throw error;
    return `must not be reached. ${error.message}`;
  }
}

/** A URL as it is stored, without a second way to write the same: with its host as it is connected to. */
export const normalizeUrl = (url: string): string => new URL(url).href;
