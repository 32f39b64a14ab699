import type { EventType } from '../audit-log/events.ts';
import type { Issue } from '../errors.ts';
import type { EventEnvironment } from '../generated/prisma/client.ts';
import { newTextIssues } from '../user-groups/values.ts';

/** The most webhooks of an installation: each takes every event. */
export const maxWebhooks = 100;

/** The longest URL of a webhook, in characters. */
const maxUrlLength = 2_048;

/** The most events that are sent again by their ids at a time. */
export const maxRedeliveredIds = 100;

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
  return undefined;
}

/** A URL as it is stored, without a second way to write the same: with its host as it is connected to. */
export const normalizeUrl = (url: string): string => new URL(url).href;
