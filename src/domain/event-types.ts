/** What the audit log records, with a description of each in one sentence without its period. The only list of them. */
export const eventTypes = {
  'user_group.created': 'a user group was created; `changes` has the fields that it was given',
  'user_group.updated': 'fields of a user group were changed; an update with equal values is not recorded',
  'user_group.token_rotated': 'the token of a user group was replaced',
  'user_group.environment_changed': 'a user group was moved to another environment, to which the event belongs',
  'user_group.deleted': 'a user group was deleted, with its tokens',
  'user_group.imported': 'an import created or changed user groups; one event for each import, with their numbers so far',
  'api_token.created': 'an API token was created',
  'api_token.rotated': 'the secret of an API token was replaced',
  'api_token.revoked': 'an API token was revoked',
  'signing_key.rotated': 'another key was published, which signs embed tokens from soon on',
  'encryption_key.rotated': 'another key encrypts stored tokens',
} as const satisfies Readonly<Record<string, string>>;

/** A type of events. */
export type EventType = keyof typeof eventTypes;

/** Every type, in the order in which texts list them. */
export const eventTypeNames = Object.keys(eventTypes) as readonly EventType[];

/** Whether there is a type with this name. */
export const isEventType = (name: string): name is EventType => Object.hasOwn(eventTypes, name);
