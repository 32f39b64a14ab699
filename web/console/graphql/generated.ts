// Generated from the .graphql files below web/console and the attributes of user groups by `npm run generate`. Do not edit.
import { document } from './document.ts';

/** Every scope of API tokens: its name outside of GraphQL, and what it allows. */
export const scopes = {
  "ADMIN": {
    "name": "admin",
    "meaning": "full access to every environment, and the management of API tokens and webhooks"
  },
  "AUDIT_READ": {
    "name": "audit:read",
    "meaning": "read the audit log: which changes were made, when and by whom"
  },
  "EMBED_SIGN": {
    "name": "embed:sign",
    "meaning": "create and revoke embed tokens of user groups; includes finding the group"
  },
  "GROUPS_READ": {
    "name": "groups:read",
    "meaning": "find and read user groups; includes groups:resolve"
  },
  "GROUPS_RESOLVE": {
    "name": "groups:resolve",
    "meaning": "only resolve a user group token or an embed token to its user group, without the current token; for embed backends"
  },
  "GROUPS_WRITE": {
    "name": "groups:write",
    "meaning": "get or create, update, suspend and delete user groups and rotate their tokens; includes reading the group that a call names"
  },
  "METRICS_READ": {
    "name": "metrics:read",
    "meaning": "read the metrics of the gateway"
  }
} as const;

/** Every type of event of the audit log: its name outside of GraphQL, and what it means. */
export const eventTypes = {
  "API_TOKEN_CREATED": {
    "name": "api_token.created",
    "meaning": "an API token was created"
  },
  "API_TOKEN_REVOKED": {
    "name": "api_token.revoked",
    "meaning": "an API token was revoked"
  },
  "API_TOKEN_ROTATED": {
    "name": "api_token.rotated",
    "meaning": "the secret of an API token was replaced"
  },
  "API_TOKEN_UPDATED": {
    "name": "api_token.updated",
    "meaning": "the name or the rate limit of an API token was changed, or it was disabled or enabled"
  },
  "EMBED_TOKEN_REVOKED": {
    "name": "embed_token.revoked",
    "meaning": "the embed tokens of a user group, or of one of its viewers, were revoked"
  },
  "ENCRYPTION_KEY_ROTATED": {
    "name": "encryption_key.rotated",
    "meaning": "another key encrypts stored tokens"
  },
  "SIGNING_KEY_ROTATED": {
    "name": "signing_key.rotated",
    "meaning": "a key was published, which signs embed tokens from soon on; the first one at once"
  },
  "USER_GROUP_CREATED": {
    "name": "user_group.created",
    "meaning": "a user group was created; `changes` has the fields that it was given"
  },
  "USER_GROUP_DELETED": {
    "name": "user_group.deleted",
    "meaning": "a user group was deleted, with its tokens"
  },
  "USER_GROUP_ENVIRONMENT_CHANGED": {
    "name": "user_group.environment_changed",
    "meaning": "a user group was moved to another environment, to which the event belongs"
  },
  "USER_GROUP_IMPORTED": {
    "name": "user_group.imported",
    "meaning": "an import created or changed user groups; one event for each of its transactions, with their numbers"
  },
  "USER_GROUP_RESUMED": {
    "name": "user_group.resumed",
    "meaning": "a user group was resumed: its tokens identify it again"
  },
  "USER_GROUP_SUSPENDED": {
    "name": "user_group.suspended",
    "meaning": "a user group was suspended, so that its tokens identify nothing, or the reason was changed"
  },
  "USER_GROUP_TOKEN_ROTATED": {
    "name": "user_group.token_rotated",
    "meaning": "the token of a user group was replaced"
  },
  "USER_GROUP_UPDATED": {
    "name": "user_group.updated",
    "meaning": "fields of a user group were changed; an update with equal values is not recorded"
  },
  "WEBHOOK_CREATED": {
    "name": "webhook.created",
    "meaning": "a webhook was created; like every event of a webhook it has its number in `changes`"
  },
  "WEBHOOK_DELETED": {
    "name": "webhook.deleted",
    "meaning": "a webhook was deleted, with its deliveries"
  },
  "WEBHOOK_DISABLED": {
    "name": "webhook.disabled",
    "meaning": "a webhook was disabled because its deliveries failed, or its deletion was begun; `changes` has the reason"
  },
  "WEBHOOK_UPDATED": {
    "name": "webhook.updated",
    "meaning": "properties of a webhook were changed, or its secret was replaced"
  }
} as const;

/** The texts that callers give a user group: the field of GraphQL, the member of files, and what the console calls it. */
export const textAttributes = [
  {
    "name": "name",
    "member": "name",
    "label": "Display name",
    "isRequired": true,
    "isFiltered": false
  }
] as const;

/** Every code of an error of the gateway: one with another code is of a proxy. */
export const errorCodes: ReadonlySet<unknown> = new Set(["BODY_REQUIRED","CONFLICT","CURSOR_EXPIRED","FORBIDDEN","HEADERS_TOO_LARGE","IDEMPOTENCY_KEY_IN_USE","IDEMPOTENCY_KEY_REUSED","INTERNAL","INVALID_INPUT","MALFORMED_JSON","METHOD_NOT_ALLOWED","NOT_FOUND","PAYLOAD_TOO_LARGE","PERSISTED_QUERY_NOT_FOUND","PERSISTED_QUERY_NOT_SUPPORTED","QUERY_TOO_COSTLY","RATE_LIMITED","REQUEST_TIMEOUT","SUSPENDED","UNAUTHENTICATED","UNAVAILABLE","UNSUPPORTED_MEDIA_TYPE","VERSION_MISMATCH"]);

/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
/** The properties of an API token. Its environment, its scopes and its end cannot be changed later. */
export type CreateApiTokenInput = {
  /** The environment that it has access to; null means untagged. Defaults to the environment of the API token that sends the request. */
  readonly environmentTag?: EnvironmentTag | null | undefined;
  /** When it expires, in the future. Defaults to never. */
  readonly expiresAt?: string | null | undefined;
  /** After how many seconds it expires, from 1 on, by the clock of the database, which decides. Instead of `expiresAt`. */
  readonly expiresInSeconds?: number | null | undefined;
  /** A label that says what it is for: 1 to 255 characters, no control characters. */
  readonly name: string;
  /** How many requests may be sent with it in 60 seconds: 1 to 1000000. Defaults to null, which means the setting RATE_LIMIT. */
  readonly rateLimit?: number | null | undefined;
  /** What it may do: at least one scope. */
  readonly scopes: ReadonlyArray<Scope>;
};

/** The group, and what the token contains. */
export type CreateEmbedTokenInput = {
  /** For whom the token is meant, its claim aud: 1 to 255 characters. Omitted by default. */
  readonly audience?: string | null | undefined;
  /** Selects the group. */
  readonly by: UserGroupBy;
  /** How long the token is valid, in seconds: 60 to 86400. */
  readonly expiresInSeconds?: number | null | undefined;
  /** Whether the token contains the properties of the group, readable by everyone who has it. */
  readonly includeProperties?: boolean | null | undefined;
  /** The origin of the page that embeds, as browsers send it, the claim origin: https://app.example.com, for example. */
  readonly origin?: string | null | undefined;
  /** What the token opens, by your own names, the claim resources: at most 50, of 1 to 255 characters. */
  readonly resources?: ReadonlyArray<string> | null | undefined;
  /** Who views within the group, the claim viewer. Readable by everyone who has the token. */
  readonly viewer?: EmbedViewerInput | null | undefined;
};

/** The properties of a webhook. */
export type CreateWebhookInput = {
  /** What the endpoint is for: 1 to 255 characters, no control characters. */
  readonly description?: string | null | undefined;
  /** The environments whose events are sent: at least one. Defaults to all. */
  readonly environments?: ReadonlyArray<EventEnvironment> | null | undefined;
  /** The types of events that are sent: at least one. Defaults to all. */
  readonly types?: ReadonlyArray<EventType> | null | undefined;
  /** Where events are sent to by POST: an https URL of at most 2048 characters, without credentials and without a fragment; http is permitted to the networks in WEBHOOKS_ALLOWED_NETWORKS. */
  readonly url: string;
};

/** Maps a schema to its data source. */
export type DataSourceMappingInput = {
  /** The data source: its ID, or the identifier that you gave it, at most 255 characters. */
  readonly dataSource: string;
  /** The ID of the schema: at most 255 characters, unique within the mapping. */
  readonly schemaId: string;
};

/** A range of time. Omit one side to leave it open. */
export type DateTimeRange = {
  /** The beginning, which is included. */
  readonly from?: string | null | undefined;
  /** The end, which is excluded. */
  readonly to?: string | null | undefined;
};

/** The group to delete. */
export type DeleteUserGroupInput = {
  /** Selects the group. */
  readonly by: UserGroupBy;
  /** The version that the group must have: the one that you read. If it has another one, nothing is changed, and the result is VersionMismatch with the group as it is. Without it, or with null, any version is changed. */
  readonly expectedVersion?: number | null | undefined;
};

/** A configuration file of at most 256 KiB: its text, or its value. */
export type DocsConfigInput =
  {   /** The text of the file. Positions of diagnostics refer to it. */
  readonly source: string; readonly value?: never; }
  |  { readonly source?: never;   /** The parsed file. Positions of diagnostics refer to its text with an indentation of 2. */
  readonly value: unknown; };

/** The severity of the diagnostics of a rule, or off. */
export type DocsConfigLevel =
  /** An error. */
  | 'ERROR'
  /** Not checked. */
  | 'OFF'
  /** A warning. */
  | 'WARNING';

/** How strictly to check. */
export type DocsConfigOptions = {
  /** Accepts groups inside the pages of a group. */
  readonly allowNestedGroups?: boolean | null | undefined;
  /** Paths of the site’s files, relative to the folder of the configuration file. If omitted, references are not checked. */
  readonly files?: ReadonlyArray<string> | null | undefined;
  /** The severities of individual rules. */
  readonly severities?: ReadonlyArray<DocsConfigSeverityInput> | null | undefined;
  /** Makes every warning an error. */
  readonly strict?: boolean | null | undefined;
};

/** The severity of a diagnostic. */
export type DocsConfigSeverity =
  /** The file is not valid. */
  | 'ERROR'
  /** The file is valid, but probably not as intended. */
  | 'WARNING';

/** The severity of the diagnostics of one rule. */
export type DocsConfigSeverityInput = {
  /** The rule, such as `nested-group`. */
  readonly code: string;
  /** The severity of its diagnostics, or off. */
  readonly level: DocsConfigLevel;
};

/** Who views within the group. */
export type EmbedViewerInput = {
  /** More about the viewer: a JSON object. */
  readonly attributes?: unknown;
  /** The email address of the viewer: 1 to 255 characters. */
  readonly email?: string | null | undefined;
  /** Your own identifier for the viewer: 1 to 255 characters. */
  readonly id: string;
  /** The name of the viewer: 1 to 255 characters. */
  readonly name?: string | null | undefined;
};

/** The environment of a user group or an API token. Two groups may share an id only if each environment has one of them. */
export type EnvironmentTag =
  /** Groups of real customers. */
  | 'CUSTOMER'
  /** Groups for testing. */
  | 'TESTING';

/** Selects the groups of one environment. */
export type EnvironmentTagFilter = {
  /** The environment; null means untagged. Required. */
  readonly tag?: EnvironmentTag | null | undefined;
};

/** Every error code, over GraphQL and REST. */
export type ErrorCode =
  /** Missing request body. */
  | 'BODY_REQUIRED'
  /** Conflicts with an existing user group. */
  | 'CONFLICT'
  /** The cursor of the event feed has expired. */
  | 'CURSOR_EXPIRED'
  /** Missing scope. */
  | 'FORBIDDEN'
  /** Request headers too large. */
  | 'HEADERS_TOO_LARGE'
  /** The Idempotency-Key is in use. */
  | 'IDEMPOTENCY_KEY_IN_USE'
  /** Another request had the Idempotency-Key. */
  | 'IDEMPOTENCY_KEY_REUSED'
  /** Internal error. */
  | 'INTERNAL'
  /** Invalid input. */
  | 'INVALID_INPUT'
  /** Malformed JSON. */
  | 'MALFORMED_JSON'
  /** Method not allowed. */
  | 'METHOD_NOT_ALLOWED'
  /** Not found. */
  | 'NOT_FOUND'
  /** Request body too large. */
  | 'PAYLOAD_TOO_LARGE'
  /** Unknown persisted query. */
  | 'PERSISTED_QUERY_NOT_FOUND'
  /** Persisted queries are not supported. */
  | 'PERSISTED_QUERY_NOT_SUPPORTED'
  /** GraphQL operation exceeds a limit. */
  | 'QUERY_TOO_COSTLY'
  /** Too many requests. */
  | 'RATE_LIMITED'
  /** Request timeout. */
  | 'REQUEST_TIMEOUT'
  /** The user group is suspended. */
  | 'SUSPENDED'
  /** No valid API token. */
  | 'UNAUTHENTICATED'
  /** Service unavailable. */
  | 'UNAVAILABLE'
  /** Unsupported media type. */
  | 'UNSUPPORTED_MEDIA_TYPE'
  /** The user group has changed. */
  | 'VERSION_MISMATCH';

/** Who made a change. */
export type EventActorKind =
  /** A request with an API token. */
  | 'API_TOKEN'
  /** A command. */
  | 'CLI'
  /** The gateway itself, such as on the first start; or the database, for a change that was made by hand. */
  | 'SYSTEM';

/** The environment that an event belongs to. */
export type EventEnvironment =
  /** Groups of real customers. */
  | 'CUSTOMER'
  /** No environment: the event is about the whole gateway, such as one of keys. */
  | 'NONE'
  /** Groups for testing. */
  | 'TESTING'
  /** Groups and API tokens without an environment. */
  | 'UNTAGGED';

/** Selects events. Every given condition must hold. */
export type EventFilter = {
  /** The ID of an API token: changes that were made with it, and changes of it. */
  readonly apiTokenId?: string | null | undefined;
  /** When the change was made. */
  readonly occurredAt?: DateTimeRange | null | undefined;
  /** The types to choose from. */
  readonly types?: ReadonlyArray<EventType> | null | undefined;
  /** The group that was changed. One that was deleted is found by its ID, its teamId and its provided ID. By token, the scope groups:resolve is required too. */
  readonly userGroup?: UserGroupBy | null | undefined;
};

/** What happened. */
export type EventType =
  /** `api_token.created`: an API token was created. */
  | 'API_TOKEN_CREATED'
  /** `api_token.revoked`: an API token was revoked. */
  | 'API_TOKEN_REVOKED'
  /** `api_token.rotated`: the secret of an API token was replaced. */
  | 'API_TOKEN_ROTATED'
  /** `api_token.updated`: the name or the rate limit of an API token was changed, or it was disabled or enabled. */
  | 'API_TOKEN_UPDATED'
  /** `embed_token.revoked`: the embed tokens of a user group, or of one of its viewers, were revoked. */
  | 'EMBED_TOKEN_REVOKED'
  /** `encryption_key.rotated`: another key encrypts stored tokens. */
  | 'ENCRYPTION_KEY_ROTATED'
  /** `signing_key.rotated`: a key was published, which signs embed tokens from soon on; the first one at once. */
  | 'SIGNING_KEY_ROTATED'
  /** `user_group.created`: a user group was created; `changes` has the fields that it was given. */
  | 'USER_GROUP_CREATED'
  /** `user_group.deleted`: a user group was deleted, with its tokens. */
  | 'USER_GROUP_DELETED'
  /** `user_group.environment_changed`: a user group was moved to another environment, to which the event belongs. */
  | 'USER_GROUP_ENVIRONMENT_CHANGED'
  /** `user_group.imported`: an import created or changed user groups; one event for each of its transactions, with their numbers. */
  | 'USER_GROUP_IMPORTED'
  /** `user_group.resumed`: a user group was resumed: its tokens identify it again. */
  | 'USER_GROUP_RESUMED'
  /** `user_group.suspended`: a user group was suspended, so that its tokens identify nothing, or the reason was changed. */
  | 'USER_GROUP_SUSPENDED'
  /** `user_group.token_rotated`: the token of a user group was replaced. */
  | 'USER_GROUP_TOKEN_ROTATED'
  /** `user_group.updated`: fields of a user group were changed; an update with equal values is not recorded. */
  | 'USER_GROUP_UPDATED'
  /** `webhook.created`: a webhook was created; like every event of a webhook it has its number in `changes`. */
  | 'WEBHOOK_CREATED'
  /** `webhook.deleted`: a webhook was deleted, with its deliveries. */
  | 'WEBHOOK_DELETED'
  /** `webhook.disabled`: a webhook was disabled because its deliveries failed, or its deletion was begun; `changes` has the reason. */
  | 'WEBHOOK_DISABLED'
  /** `webhook.updated`: properties of a webhook were changed, or its secret was replaced. */
  | 'WEBHOOK_UPDATED';

/** The id, and the initial values of a new group. */
export type GetOrCreateUserGroupInput = {
  /** The environment of the group; null means untagged. Defaults to the environment of the API token. Any other value requires the scope admin; without it, the result is Forbidden. */
  readonly environmentTag?: EnvironmentTag | null | undefined;
  /** The data sources of schemas: at most 1,000 entries and 64 KiB as JSON. */
  readonly mapping?: ReadonlyArray<DataSourceMappingInput> | null | undefined;
  /** The display name: 1 to 255 characters without control characters. Defaults to the id. */
  readonly name?: string | null | undefined;
  /** A JSON object of at most 64 KiB and 32 levels. */
  readonly properties?: unknown;
  /** Your own identifier for the group: 1 to 255 characters without control characters. */
  readonly providedId: string;
};

/** The direction of an order. */
export type OrderDirection =
  /** The smallest or oldest first. */
  | 'ASC'
  /** The greatest or newest first. */
  | 'DESC';

/** Selects groups by one of their properties: `{ path: ["plan"], equals: "gold" }`. */
export type PropertyFilter = {
  /** The value that it must have. An object or a list is compared as a whole: all of its members and no others, those of an object in any order. */
  readonly equals: unknown;
  /** The member names that lead to the property, from the outermost; indexes of lists as text, negative ones from the end. 1 to 32. */
  readonly path: ReadonlyArray<string>;
};

/** The group to resume. */
export type ResumeUserGroupInput = {
  /** Selects the group; not by a token if it is suspended. */
  readonly by: UserGroupBy;
  /** The version that the group must have: the one that you read. If it has another one, nothing is changed, and the result is VersionMismatch with the group as it is. Without it, or with null, any version is changed. */
  readonly expectedVersion?: number | null | undefined;
};

/** The API token whose secret is replaced, and how long the replaced one stays accepted. */
export type RotateApiTokenInput = {
  /** The globally unique ID of the API token. */
  readonly id: string;
  /** How long the replaced secret stays accepted, in seconds: 0 to 604800. With 0, it and every secret that was replaced earlier are rejected from the next request on; otherwise those replaced earlier keep their ends. */
  readonly overlapSeconds?: number | null | undefined;
};

/** The token to replace, its grace period, and whether to end earlier grace periods. Needs one of currentToken and by. */
export type RotateUserGroupTokenInput = {
  /** Selects the group whose current token is replaced, for example a leaked one that you need not read. */
  readonly by?: UserGroupBy | null | undefined;
  /** The group’s current token. Once another call has replaced it, the result is NotFound. */
  readonly currentToken?: string | null | undefined;
  /** Whether to expire every token that was replaced earlier, for example a leaked one in its grace period. Does not affect the token that this call replaces, which expires after graceSeconds. */
  readonly endGracePeriods?: boolean | null | undefined;
  /** The version that the group must have: the one that you read. If it has another one, nothing is changed, and the result is VersionMismatch with the group as it is. Without it, or with null, any version is changed. */
  readonly expectedVersion?: number | null | undefined;
  /** How long the replaced token still identifies the group, in seconds: 0 to 604800. Defaults to 0: it expires immediately. */
  readonly graceSeconds?: number | null | undefined;
};

/** The webhook whose secret is replaced, and how long the replaced one signs too. */
export type RotateWebhookSecretInput = {
  /** The globally unique ID of the webhook. */
  readonly id: string;
  /** How long deliveries have two signatures, one by each secret, in seconds: 0 to 604800. A secret that was replaced earlier no longer signs. */
  readonly overlapSeconds?: number | null | undefined;
};

/** What an API token may do. */
export type Scope =
  /** `admin`: full access to every environment, and the management of API tokens and webhooks. */
  | 'ADMIN'
  /** `audit:read`: read the audit log: which changes were made, when and by whom. */
  | 'AUDIT_READ'
  /** `embed:sign`: create and revoke embed tokens of user groups; includes finding the group. */
  | 'EMBED_SIGN'
  /** `groups:read`: find and read user groups; includes groups:resolve. */
  | 'GROUPS_READ'
  /** `groups:resolve`: only resolve a user group token or an embed token to its user group, without the current token; for embed backends. */
  | 'GROUPS_RESOLVE'
  /** `groups:write`: get or create, update, suspend and delete user groups and rotate their tokens; includes reading the group that a call names. */
  | 'GROUPS_WRITE'
  /** `metrics:read`: read the metrics of the gateway. */
  | 'METRICS_READ';

/** The group, and its new environment. */
export type SetUserGroupEnvironmentInput = {
  /** Selects the group. */
  readonly by: UserGroupBy;
  /** The new environment; null means untagged. Must be given. */
  readonly environmentTag?: EnvironmentTag | null | undefined;
  /** The version that the group must have: the one that you read. If it has another one, nothing is changed, and the result is VersionMismatch with the group as it is. Without it, or with null, any version is changed. */
  readonly expectedVersion?: number | null | undefined;
};

/** The group to suspend, and why. */
export type SuspendUserGroupInput = {
  /** Selects the group; not by a token if it is suspended. */
  readonly by: UserGroupBy;
  /** The version that the group must have: the one that you read. If it has another one, nothing is changed, and the result is VersionMismatch with the group as it is. Without it, or with null, any version is changed. */
  readonly expectedVersion?: number | null | undefined;
  /** Why it is suspended: 1 to 255 characters without control characters. Without it, a group that is suspended already has no reason any more. */
  readonly reason?: string | null | undefined;
};

/** The API token, and its new properties. What is omitted stays as it is. */
export type UpdateApiTokenInput = {
  /** Whether it is accepted. */
  readonly enabled?: boolean | null | undefined;
  /** The globally unique ID of the API token. */
  readonly id: string;
  /** A label that says what it is for: 1 to 255 characters, no control characters. */
  readonly name?: string | null | undefined;
  /** How many requests may be sent with it in 60 seconds: 1 to 1000000. null means the setting RATE_LIMIT. */
  readonly rateLimit?: number | null | undefined;
};

/** The group to change, and its new values. Omitted fields stay unchanged. */
export type UpdateUserGroupInput = {
  /** Selects the group. */
  readonly by: UserGroupBy;
  /** The version that the group must have: the one that you read. If it has another one, nothing is changed, and the result is VersionMismatch with the group as it is. Without it, or with null, any version is changed. */
  readonly expectedVersion?: number | null | undefined;
  /** Replaces the whole mapping: at most 1,000 entries and 64 KiB as JSON. */
  readonly mapping?: ReadonlyArray<DataSourceMappingInput> | null | undefined;
  /** Changes single properties: a JSON Merge Patch (RFC 7396) of at most 64 KiB and 32 levels. Members replace those of the same name, nested objects are merged, and null removes a member: {"plan": "gold", "trial": null}. Concurrent patches are all applied. The result must be within the limits of properties. Cannot be combined with properties. */
  readonly mergeProperties?: unknown;
  /** The display name: 1 to 255 characters without control characters. */
  readonly name?: string | null | undefined;
  /** Replaces all properties: a JSON object of at most 64 KiB and 32 levels; null clears them. */
  readonly properties?: unknown;
};

/** The webhook, and its new properties. What is omitted stays as it is. */
export type UpdateWebhookInput = {
  /** What the endpoint is for: 1 to 255 characters, no control characters. null removes it. */
  readonly description?: string | null | undefined;
  /** Whether events are sent. */
  readonly enabled?: boolean | null | undefined;
  /** The environments whose events are sent: at least one. null means all. */
  readonly environments?: ReadonlyArray<EventEnvironment> | null | undefined;
  /** The globally unique ID of the webhook. */
  readonly id: string;
  /** The types of events that are sent: at least one. null means all. */
  readonly types?: ReadonlyArray<EventType> | null | undefined;
  /** Where events are sent to by POST: an https URL of at most 2048 characters, without credentials and without a fragment; http is permitted to the networks in WEBHOOKS_ALLOWED_NETWORKS. */
  readonly url?: string | null | undefined;
};

/** Selects one user group. */
export type UserGroupBy =
  {   /** The globally unique ID. */
  readonly id: string; readonly providedId?: never; readonly teamId?: never; readonly token?: never; }
  |  { readonly id?: never;   /** Your own identifier. With scope `admin`, a group in the environment of the API token takes precedence; a deletion with an API token of Customer or Testing finds none of the other. */
  readonly providedId: string; readonly teamId?: never; readonly token?: never; }
  |  { readonly id?: never; readonly providedId?: never;   /** The number that the gateway assigned. */
  readonly teamId: number; readonly token?: never; }
  |  { readonly id?: never; readonly providedId?: never; readonly teamId?: never;   /** A user group token: the current one, or one in its grace period. */
  readonly token: string; };

/** Selects user groups. Every given condition must hold. */
export type UserGroupFilter = {
  /** When the group was created. A group appears in the list when the change is committed, up to a minute later. To read what is new, begin a minute before the newest time of the reading before, and drop the groups whose id and version you know; a cursor of that reading misses some. */
  readonly createdAt?: DateTimeRange | null | undefined;
  /** The environment. Any other than that of the API token requires the scope admin; without this condition, admin lists every environment. */
  readonly environmentTag?: EnvironmentTagFilter | null | undefined;
  /** Groups whose `lastResolvedAt` is earlier than this time, or null. */
  readonly notResolvedSince?: string | null | undefined;
  /** Properties that the group must have: at most 5. */
  readonly properties?: ReadonlyArray<PropertyFilter> | null | undefined;
  /** The provided IDs to choose from: at most 100. */
  readonly providedIds?: ReadonlyArray<string> | null | undefined;
  /** A part of the name or the provided ID, regardless of upper and lower case: 1 to 255 characters. Three or more are found fastest. */
  readonly search?: string | null | undefined;
  /** Active groups, or suspended ones. */
  readonly status?: UserGroupStatus | null | undefined;
  /** When the group was last changed. A group appears in the list when the change is committed, up to a minute later. To read what is new, begin a minute before the newest time of the reading before, and drop the groups whose id and version you know; a cursor of that reading misses some. */
  readonly updatedAt?: DateTimeRange | null | undefined;
};

/** The order of user groups. */
export type UserGroupOrder = {
  /** The direction. */
  readonly direction?: OrderDirection;
  /** What to sort by. */
  readonly field?: UserGroupOrderField;
};

/** What user groups are sorted by. Groups with the same value are in the order of their team IDs. */
export type UserGroupOrderField =
  /** When the group was created. */
  | 'CREATED'
  /** The display name, by code points: upper case before lower case. */
  | 'NAME'
  /** Your own identifier, by code points. */
  | 'PROVIDED_ID'
  /** When the group was last changed. */
  | 'UPDATED';

/** Whether the tokens of a user group identify it. */
export type UserGroupStatus =
  /** Its tokens identify it. */
  | 'ACTIVE'
  /** Its tokens and its embed tokens identify nothing until it is resumed. */
  | 'SUSPENDED';

/** What became of a delivery. */
export type WebhookDeliveryStatus =
  /** The endpoint responded with 2xx. */
  | 'DELIVERED'
  /** Its last attempt failed. It is not tried again. */
  | 'FAILED'
  /** It is tried, or is tried again. */
  | 'PENDING';

/** Whether events are sent to a webhook. */
export type WebhookStatus =
  /** Nothing is sent until it is enabled again. */
  | 'DISABLED'
  /** Events are sent. */
  | 'ENABLED';

export type EventListQueryVariables = Exact<{
  first?: number | null | undefined;
  after?: string | null | undefined;
  last?: number | null | undefined;
  before?: string | null | undefined;
  filter?: EventFilter | null | undefined;
}>;


export type EventListQuery = { readonly events: { readonly nodes: ReadonlyArray<{ readonly id: string, readonly type: EventType, readonly occurredAt: string, readonly requestId: string | null, readonly providedId: string | null, readonly userGroupId: string | null, readonly environment: EventEnvironment, readonly changes: unknown, readonly apiToken: { readonly id: string, readonly number: number, readonly name: string } | null, readonly actor: { readonly kind: EventActorKind, readonly name: string, readonly apiToken: { readonly id: string, readonly number: number } | null } }>, readonly pageInfo: { readonly hasNextPage: boolean, readonly hasPreviousPage: boolean, readonly startCursor: string | null, readonly endCursor: string | null } } | null };

export type EventRowFragment = { readonly id: string, readonly type: EventType, readonly occurredAt: string, readonly requestId: string | null, readonly providedId: string | null, readonly userGroupId: string | null, readonly environment: EventEnvironment, readonly changes: unknown, readonly apiToken: { readonly id: string, readonly number: number, readonly name: string } | null, readonly actor: { readonly kind: EventActorKind, readonly name: string, readonly apiToken: { readonly id: string, readonly number: number } | null } };

export type CheckDocsConfigQueryVariables = Exact<{
  input: DocsConfigInput;
  options?: DocsConfigOptions | null | undefined;
}>;


export type CheckDocsConfigQuery = { readonly validateDocsConfig: { readonly valid: boolean, readonly errorCount: number, readonly warningCount: number, readonly diagnostics: ReadonlyArray<{ readonly code: string, readonly severity: DocsConfigSeverity, readonly message: string, readonly suggestion: string | null, readonly pointer: string, readonly url: string, readonly range: { readonly start: { readonly offset: number, readonly line: number, readonly column: number }, readonly end: { readonly offset: number } } }> } | null };

export type RangeFieldsFragment = { readonly start: { readonly offset: number, readonly line: number, readonly column: number }, readonly end: { readonly offset: number } };

export type CallerQueryVariables = Exact<{ [key: string]: never; }>;


export type CallerQuery = { readonly caller: { readonly id: string, readonly number: number, readonly name: string, readonly environmentTag: EnvironmentTag | null, readonly scopes: ReadonlyArray<Scope>, readonly createdAt: string, readonly expiresAt: string | null, readonly expired: boolean, readonly lastUsedAt: string | null, readonly revokedAt: string | null, readonly enabled: boolean, readonly rateLimit: number | null } | null };

export type ApiTokenFieldsFragment = { readonly id: string, readonly number: number, readonly name: string, readonly environmentTag: EnvironmentTag | null, readonly scopes: ReadonlyArray<Scope>, readonly createdAt: string, readonly expiresAt: string | null, readonly expired: boolean, readonly lastUsedAt: string | null, readonly revokedAt: string | null, readonly enabled: boolean, readonly rateLimit: number | null };

export type GroupQueryVariables = Exact<{
  by: UserGroupBy;
}>;


export type GroupQuery = { readonly userGroup: { readonly id: string, readonly teamId: number, readonly providedId: string, readonly environmentTag: EnvironmentTag | null, readonly status: UserGroupStatus, readonly suspendedReason: string | null, readonly lastResolvedAt: string | null, readonly createdAt: string, readonly updatedAt: string, readonly version: number, readonly name: string, readonly properties: unknown, readonly mapping: ReadonlyArray<{ readonly schemaId: string, readonly dataSource: string }> } | null };

export type GroupDetailFragment = { readonly id: string, readonly teamId: number, readonly providedId: string, readonly environmentTag: EnvironmentTag | null, readonly status: UserGroupStatus, readonly suspendedReason: string | null, readonly lastResolvedAt: string | null, readonly createdAt: string, readonly updatedAt: string, readonly version: number, readonly name: string, readonly properties: unknown, readonly mapping: ReadonlyArray<{ readonly schemaId: string, readonly dataSource: string }> };

export type MismatchFragment = { readonly userGroup: { readonly id: string, readonly teamId: number, readonly providedId: string, readonly environmentTag: EnvironmentTag | null, readonly status: UserGroupStatus, readonly suspendedReason: string | null, readonly lastResolvedAt: string | null, readonly createdAt: string, readonly updatedAt: string, readonly version: number, readonly name: string, readonly properties: unknown, readonly mapping: ReadonlyArray<{ readonly schemaId: string, readonly dataSource: string }> } };

export type GroupTokenQueryVariables = Exact<{
  by: UserGroupBy;
}>;


export type GroupTokenQuery = { readonly userGroup: { readonly token: string } | null };

export type UpdateGroupMutationVariables = Exact<{
  input: UpdateUserGroupInput;
}>;


export type UpdateGroupMutation = { readonly updateUserGroup:
    | { readonly __typename: 'Forbidden', readonly code: ErrorCode, readonly message: string }
    | { readonly __typename: 'InvalidInput', readonly code: ErrorCode, readonly message: string, readonly issues: ReadonlyArray<{ readonly path: ReadonlyArray<string>, readonly message: string }> }
    | { readonly __typename: 'NotFound', readonly code: ErrorCode, readonly message: string }
    | { readonly __typename: 'Unauthenticated', readonly code: ErrorCode, readonly message: string }
    | { readonly __typename: 'UpdateUserGroupPayload', readonly userGroup: { readonly id: string, readonly teamId: number, readonly providedId: string, readonly environmentTag: EnvironmentTag | null, readonly status: UserGroupStatus, readonly suspendedReason: string | null, readonly lastResolvedAt: string | null, readonly createdAt: string, readonly updatedAt: string, readonly version: number, readonly name: string, readonly properties: unknown, readonly mapping: ReadonlyArray<{ readonly schemaId: string, readonly dataSource: string }> } }
    | { readonly __typename: 'VersionMismatch', readonly code: ErrorCode, readonly message: string, readonly userGroup: { readonly id: string, readonly teamId: number, readonly providedId: string, readonly environmentTag: EnvironmentTag | null, readonly status: UserGroupStatus, readonly suspendedReason: string | null, readonly lastResolvedAt: string | null, readonly createdAt: string, readonly updatedAt: string, readonly version: number, readonly name: string, readonly properties: unknown, readonly mapping: ReadonlyArray<{ readonly schemaId: string, readonly dataSource: string }> } }
   | null };

export type RotateGroupTokenMutationVariables = Exact<{
  input: RotateUserGroupTokenInput;
}>;


export type RotateGroupTokenMutation = { readonly rotateUserGroupToken:
    | { readonly __typename: 'Forbidden', readonly code: ErrorCode, readonly message: string }
    | { readonly __typename: 'InvalidInput', readonly code: ErrorCode, readonly message: string, readonly issues: ReadonlyArray<{ readonly path: ReadonlyArray<string>, readonly message: string }> }
    | { readonly __typename: 'NotFound', readonly code: ErrorCode, readonly message: string }
    | { readonly __typename: 'RotateUserGroupTokenPayload', readonly previousTokenExpiresAt: string | null, readonly userGroup: { readonly token: string, readonly id: string, readonly teamId: number, readonly providedId: string, readonly environmentTag: EnvironmentTag | null, readonly status: UserGroupStatus, readonly suspendedReason: string | null, readonly lastResolvedAt: string | null, readonly createdAt: string, readonly updatedAt: string, readonly version: number, readonly name: string, readonly properties: unknown, readonly mapping: ReadonlyArray<{ readonly schemaId: string, readonly dataSource: string }> } }
    | { readonly __typename: 'Unauthenticated', readonly code: ErrorCode, readonly message: string }
    | { readonly __typename: 'VersionMismatch', readonly code: ErrorCode, readonly message: string, readonly userGroup: { readonly id: string, readonly teamId: number, readonly providedId: string, readonly environmentTag: EnvironmentTag | null, readonly status: UserGroupStatus, readonly suspendedReason: string | null, readonly lastResolvedAt: string | null, readonly createdAt: string, readonly updatedAt: string, readonly version: number, readonly name: string, readonly properties: unknown, readonly mapping: ReadonlyArray<{ readonly schemaId: string, readonly dataSource: string }> } }
   | null };

export type CreateEmbedTokenMutationVariables = Exact<{
  input: CreateEmbedTokenInput;
}>;


export type CreateEmbedTokenMutation = { readonly createEmbedToken:
    | { readonly __typename: 'CreateEmbedTokenPayload', readonly token: string, readonly expiresAt: string }
    | { readonly __typename: 'Forbidden', readonly code: ErrorCode, readonly message: string }
    | { readonly __typename: 'InvalidInput', readonly code: ErrorCode, readonly message: string, readonly issues: ReadonlyArray<{ readonly path: ReadonlyArray<string>, readonly message: string }> }
    | { readonly __typename: 'NotFound', readonly code: ErrorCode, readonly message: string }
    | { readonly __typename: 'Suspended', readonly code: ErrorCode, readonly message: string }
    | { readonly __typename: 'Unauthenticated', readonly code: ErrorCode, readonly message: string }
   | null };

export type SetGroupEnvironmentMutationVariables = Exact<{
  input: SetUserGroupEnvironmentInput;
}>;


export type SetGroupEnvironmentMutation = { readonly setUserGroupEnvironment:
    | { readonly __typename: 'Conflict', readonly code: ErrorCode, readonly message: string }
    | { readonly __typename: 'Forbidden', readonly code: ErrorCode, readonly message: string }
    | { readonly __typename: 'InvalidInput', readonly code: ErrorCode, readonly message: string, readonly issues: ReadonlyArray<{ readonly path: ReadonlyArray<string>, readonly message: string }> }
    | { readonly __typename: 'NotFound', readonly code: ErrorCode, readonly message: string }
    | { readonly __typename: 'SetUserGroupEnvironmentPayload', readonly userGroup: { readonly id: string, readonly teamId: number, readonly providedId: string, readonly environmentTag: EnvironmentTag | null, readonly status: UserGroupStatus, readonly suspendedReason: string | null, readonly lastResolvedAt: string | null, readonly createdAt: string, readonly updatedAt: string, readonly version: number, readonly name: string, readonly properties: unknown, readonly mapping: ReadonlyArray<{ readonly schemaId: string, readonly dataSource: string }> } }
    | { readonly __typename: 'Unauthenticated', readonly code: ErrorCode, readonly message: string }
    | { readonly __typename: 'VersionMismatch', readonly code: ErrorCode, readonly message: string, readonly userGroup: { readonly id: string, readonly teamId: number, readonly providedId: string, readonly environmentTag: EnvironmentTag | null, readonly status: UserGroupStatus, readonly suspendedReason: string | null, readonly lastResolvedAt: string | null, readonly createdAt: string, readonly updatedAt: string, readonly version: number, readonly name: string, readonly properties: unknown, readonly mapping: ReadonlyArray<{ readonly schemaId: string, readonly dataSource: string }> } }
   | null };

export type SuspendGroupMutationVariables = Exact<{
  input: SuspendUserGroupInput;
}>;


export type SuspendGroupMutation = { readonly suspendUserGroup:
    | { readonly __typename: 'Forbidden', readonly code: ErrorCode, readonly message: string }
    | { readonly __typename: 'InvalidInput', readonly code: ErrorCode, readonly message: string, readonly issues: ReadonlyArray<{ readonly path: ReadonlyArray<string>, readonly message: string }> }
    | { readonly __typename: 'NotFound', readonly code: ErrorCode, readonly message: string }
    | { readonly __typename: 'SuspendUserGroupPayload', readonly userGroup: { readonly id: string, readonly teamId: number, readonly providedId: string, readonly environmentTag: EnvironmentTag | null, readonly status: UserGroupStatus, readonly suspendedReason: string | null, readonly lastResolvedAt: string | null, readonly createdAt: string, readonly updatedAt: string, readonly version: number, readonly name: string, readonly properties: unknown, readonly mapping: ReadonlyArray<{ readonly schemaId: string, readonly dataSource: string }> } }
    | { readonly __typename: 'Unauthenticated', readonly code: ErrorCode, readonly message: string }
    | { readonly __typename: 'VersionMismatch', readonly code: ErrorCode, readonly message: string, readonly userGroup: { readonly id: string, readonly teamId: number, readonly providedId: string, readonly environmentTag: EnvironmentTag | null, readonly status: UserGroupStatus, readonly suspendedReason: string | null, readonly lastResolvedAt: string | null, readonly createdAt: string, readonly updatedAt: string, readonly version: number, readonly name: string, readonly properties: unknown, readonly mapping: ReadonlyArray<{ readonly schemaId: string, readonly dataSource: string }> } }
   | null };

export type ResumeGroupMutationVariables = Exact<{
  input: ResumeUserGroupInput;
}>;


export type ResumeGroupMutation = { readonly resumeUserGroup:
    | { readonly __typename: 'Forbidden', readonly code: ErrorCode, readonly message: string }
    | { readonly __typename: 'InvalidInput', readonly code: ErrorCode, readonly message: string, readonly issues: ReadonlyArray<{ readonly path: ReadonlyArray<string>, readonly message: string }> }
    | { readonly __typename: 'NotFound', readonly code: ErrorCode, readonly message: string }
    | { readonly __typename: 'ResumeUserGroupPayload', readonly userGroup: { readonly id: string, readonly teamId: number, readonly providedId: string, readonly environmentTag: EnvironmentTag | null, readonly status: UserGroupStatus, readonly suspendedReason: string | null, readonly lastResolvedAt: string | null, readonly createdAt: string, readonly updatedAt: string, readonly version: number, readonly name: string, readonly properties: unknown, readonly mapping: ReadonlyArray<{ readonly schemaId: string, readonly dataSource: string }> } }
    | { readonly __typename: 'Unauthenticated', readonly code: ErrorCode, readonly message: string }
    | { readonly __typename: 'VersionMismatch', readonly code: ErrorCode, readonly message: string, readonly userGroup: { readonly id: string, readonly teamId: number, readonly providedId: string, readonly environmentTag: EnvironmentTag | null, readonly status: UserGroupStatus, readonly suspendedReason: string | null, readonly lastResolvedAt: string | null, readonly createdAt: string, readonly updatedAt: string, readonly version: number, readonly name: string, readonly properties: unknown, readonly mapping: ReadonlyArray<{ readonly schemaId: string, readonly dataSource: string }> } }
   | null };

export type GroupListQueryVariables = Exact<{
  first?: number | null | undefined;
  after?: string | null | undefined;
  last?: number | null | undefined;
  before?: string | null | undefined;
  filter?: UserGroupFilter | null | undefined;
  orderBy?: UserGroupOrder | null | undefined;
}>;


export type GroupListQuery = { readonly userGroups: { readonly nodes: ReadonlyArray<{ readonly id: string, readonly teamId: number, readonly providedId: string, readonly environmentTag: EnvironmentTag | null, readonly status: UserGroupStatus, readonly createdAt: string, readonly updatedAt: string, readonly version: number, readonly name: string }>, readonly pageInfo: { readonly hasNextPage: boolean, readonly hasPreviousPage: boolean, readonly startCursor: string | null, readonly endCursor: string | null } } | null };

export type GroupRowFragment = { readonly id: string, readonly teamId: number, readonly providedId: string, readonly environmentTag: EnvironmentTag | null, readonly status: UserGroupStatus, readonly createdAt: string, readonly updatedAt: string, readonly version: number, readonly name: string };

export type GroupCountQueryVariables = Exact<{
  filter?: UserGroupFilter | null | undefined;
}>;


export type GroupCountQuery = { readonly userGroups: { readonly totalCount: number | null } | null };

export type FindGroupQueryVariables = Exact<{
  by: UserGroupBy;
}>;


export type FindGroupQuery = { readonly userGroup: { readonly id: string, readonly teamId: number, readonly providedId: string, readonly environmentTag: EnvironmentTag | null, readonly status: UserGroupStatus, readonly createdAt: string, readonly updatedAt: string, readonly version: number, readonly name: string } | null };

export type GroupExportQueryVariables = Exact<{
  first: number;
  after?: string | null | undefined;
  filter?: UserGroupFilter | null | undefined;
  orderBy?: UserGroupOrder | null | undefined;
}>;


export type GroupExportQuery = { readonly userGroups: { readonly nodes: ReadonlyArray<{ readonly id: string, readonly providedId: string, readonly status: UserGroupStatus, readonly suspendedReason: string | null, readonly environmentTag: EnvironmentTag | null, readonly name: string, readonly properties: unknown, readonly mapping: ReadonlyArray<{ readonly schemaId: string, readonly dataSource: string }> }>, readonly pageInfo: { readonly hasNextPage: boolean, readonly endCursor: string | null } } | null };

export type CreateGroupMutationVariables = Exact<{
  input: GetOrCreateUserGroupInput;
}>;


export type CreateGroupMutation = { readonly getOrCreateUserGroup:
    | { readonly __typename: 'Conflict', readonly code: ErrorCode, readonly message: string }
    | { readonly __typename: 'Forbidden', readonly code: ErrorCode, readonly message: string }
    | { readonly __typename: 'GetOrCreateUserGroupPayload', readonly created: boolean, readonly userGroup: { readonly id: string, readonly providedId: string } }
    | { readonly __typename: 'InvalidInput', readonly code: ErrorCode, readonly message: string, readonly issues: ReadonlyArray<{ readonly path: ReadonlyArray<string>, readonly message: string }> }
    | { readonly __typename: 'Unauthenticated', readonly code: ErrorCode, readonly message: string }
   | null };

export type DeleteGroupMutationVariables = Exact<{
  input: DeleteUserGroupInput;
}>;


export type DeleteGroupMutation = { readonly deleteUserGroup:
    | { readonly __typename: 'DeleteUserGroupPayload', readonly deletedId: string }
    | { readonly __typename: 'Forbidden', readonly code: ErrorCode, readonly message: string }
    | { readonly __typename: 'InvalidInput', readonly code: ErrorCode, readonly message: string, readonly issues: ReadonlyArray<{ readonly path: ReadonlyArray<string>, readonly message: string }> }
    | { readonly __typename: 'NotFound', readonly code: ErrorCode, readonly message: string }
    | { readonly __typename: 'Unauthenticated', readonly code: ErrorCode, readonly message: string }
    | { readonly __typename: 'VersionMismatch', readonly code: ErrorCode, readonly message: string, readonly userGroup: { readonly id: string, readonly teamId: number, readonly providedId: string, readonly environmentTag: EnvironmentTag | null, readonly status: UserGroupStatus, readonly suspendedReason: string | null, readonly lastResolvedAt: string | null, readonly createdAt: string, readonly updatedAt: string, readonly version: number, readonly name: string, readonly properties: unknown, readonly mapping: ReadonlyArray<{ readonly schemaId: string, readonly dataSource: string }> } }
   | null };

type Failure_Conflict_Fragment = { readonly code: ErrorCode, readonly message: string };

type Failure_Forbidden_Fragment = { readonly code: ErrorCode, readonly message: string };

type Failure_InvalidInput_Fragment = { readonly code: ErrorCode, readonly message: string, readonly issues: ReadonlyArray<{ readonly path: ReadonlyArray<string>, readonly message: string }> };

type Failure_NotFound_Fragment = { readonly code: ErrorCode, readonly message: string };

type Failure_Suspended_Fragment = { readonly code: ErrorCode, readonly message: string };

type Failure_Unauthenticated_Fragment = { readonly code: ErrorCode, readonly message: string };

type Failure_VersionMismatch_Fragment = { readonly code: ErrorCode, readonly message: string };

export type FailureFragment =
  | Failure_Conflict_Fragment
  | Failure_Forbidden_Fragment
  | Failure_InvalidInput_Fragment
  | Failure_NotFound_Fragment
  | Failure_Suspended_Fragment
  | Failure_Unauthenticated_Fragment
  | Failure_VersionMismatch_Fragment
;

export type OwnCountQueryVariables = Exact<{ [key: string]: never; }>;


export type OwnCountQuery = { readonly userGroups: { readonly totalCount: number | null } | null };

export type EnvironmentCountsQueryVariables = Exact<{ [key: string]: never; }>;


export type EnvironmentCountsQuery = { readonly customer: { readonly totalCount: number | null } | null, readonly testing: { readonly totalCount: number | null } | null, readonly untagged: { readonly totalCount: number | null } | null };

export type MetricsQueryVariables = Exact<{ [key: string]: never; }>;


export type MetricsQuery = { readonly metrics: { readonly total: { readonly startedAt: string, readonly requests: number, readonly latency: { readonly p50Ms: number, readonly p99Ms: number } | null, readonly errors: ReadonlyArray<{ readonly code: ErrorCode, readonly count: number }> }, readonly slots: ReadonlyArray<{ readonly startedAt: string, readonly requests: number, readonly latency: { readonly p50Ms: number, readonly p99Ms: number } | null }> } | null };

export type InstanceQueryVariables = Exact<{ [key: string]: never; }>;


export type InstanceQuery = { readonly instance: { readonly version: string, readonly startedAt: string, readonly databaseVersion: string, readonly databaseSizeBytes: number } | null };

export type ApiTokenListQueryVariables = Exact<{
  first?: number | null | undefined;
  after?: string | null | undefined;
  last?: number | null | undefined;
  before?: string | null | undefined;
  includeRevoked: boolean;
}>;


export type ApiTokenListQuery = { readonly apiTokens: { readonly totalCount: number | null, readonly nodes: ReadonlyArray<{ readonly id: string, readonly number: number, readonly name: string, readonly environmentTag: EnvironmentTag | null, readonly scopes: ReadonlyArray<Scope>, readonly createdAt: string, readonly expiresAt: string | null, readonly expired: boolean, readonly lastUsedAt: string | null, readonly revokedAt: string | null, readonly enabled: boolean, readonly rateLimit: number | null }>, readonly pageInfo: { readonly hasNextPage: boolean, readonly hasPreviousPage: boolean, readonly startCursor: string | null, readonly endCursor: string | null } } | null };

export type CreateApiTokenMutationVariables = Exact<{
  input: CreateApiTokenInput;
}>;


export type CreateApiTokenMutation = { readonly createApiToken:
    | { readonly __typename: 'CreateApiTokenPayload', readonly secret: string, readonly apiToken: { readonly id: string, readonly number: number, readonly name: string, readonly environmentTag: EnvironmentTag | null, readonly scopes: ReadonlyArray<Scope>, readonly createdAt: string, readonly expiresAt: string | null, readonly expired: boolean, readonly lastUsedAt: string | null, readonly revokedAt: string | null, readonly enabled: boolean, readonly rateLimit: number | null } }
    | { readonly __typename: 'Forbidden', readonly code: ErrorCode, readonly message: string }
    | { readonly __typename: 'InvalidInput', readonly code: ErrorCode, readonly message: string, readonly issues: ReadonlyArray<{ readonly path: ReadonlyArray<string>, readonly message: string }> }
    | { readonly __typename: 'Unauthenticated', readonly code: ErrorCode, readonly message: string }
   | null };

export type RotateApiTokenMutationVariables = Exact<{
  input: RotateApiTokenInput;
}>;


export type RotateApiTokenMutation = { readonly rotateApiToken:
    | { readonly __typename: 'Forbidden', readonly code: ErrorCode, readonly message: string }
    | { readonly __typename: 'InvalidInput', readonly code: ErrorCode, readonly message: string, readonly issues: ReadonlyArray<{ readonly path: ReadonlyArray<string>, readonly message: string }> }
    | { readonly __typename: 'NotFound', readonly code: ErrorCode, readonly message: string }
    | { readonly __typename: 'RotateApiTokenPayload', readonly secret: string, readonly apiToken: { readonly id: string, readonly number: number, readonly name: string, readonly environmentTag: EnvironmentTag | null, readonly scopes: ReadonlyArray<Scope>, readonly createdAt: string, readonly expiresAt: string | null, readonly expired: boolean, readonly lastUsedAt: string | null, readonly revokedAt: string | null, readonly enabled: boolean, readonly rateLimit: number | null } }
    | { readonly __typename: 'Unauthenticated', readonly code: ErrorCode, readonly message: string }
   | null };

export type RevokeApiTokenMutationVariables = Exact<{
  id: string;
}>;


export type RevokeApiTokenMutation = { readonly revokeApiToken:
    | { readonly __typename: 'Forbidden', readonly code: ErrorCode, readonly message: string }
    | { readonly __typename: 'InvalidInput', readonly code: ErrorCode, readonly message: string, readonly issues: ReadonlyArray<{ readonly path: ReadonlyArray<string>, readonly message: string }> }
    | { readonly __typename: 'NotFound', readonly code: ErrorCode, readonly message: string }
    | { readonly __typename: 'RevokeApiTokenPayload', readonly apiToken: { readonly id: string, readonly number: number, readonly name: string, readonly environmentTag: EnvironmentTag | null, readonly scopes: ReadonlyArray<Scope>, readonly createdAt: string, readonly expiresAt: string | null, readonly expired: boolean, readonly lastUsedAt: string | null, readonly revokedAt: string | null, readonly enabled: boolean, readonly rateLimit: number | null } }
    | { readonly __typename: 'Unauthenticated', readonly code: ErrorCode, readonly message: string }
   | null };

export type UpdateApiTokenMutationVariables = Exact<{
  input: UpdateApiTokenInput;
}>;


export type UpdateApiTokenMutation = { readonly updateApiToken:
    | { readonly __typename: 'Forbidden', readonly code: ErrorCode, readonly message: string }
    | { readonly __typename: 'InvalidInput', readonly code: ErrorCode, readonly message: string, readonly issues: ReadonlyArray<{ readonly path: ReadonlyArray<string>, readonly message: string }> }
    | { readonly __typename: 'NotFound', readonly code: ErrorCode, readonly message: string }
    | { readonly __typename: 'Unauthenticated', readonly code: ErrorCode, readonly message: string }
    | { readonly __typename: 'UpdateApiTokenPayload', readonly apiToken: { readonly id: string, readonly number: number, readonly name: string, readonly environmentTag: EnvironmentTag | null, readonly scopes: ReadonlyArray<Scope>, readonly createdAt: string, readonly expiresAt: string | null, readonly expired: boolean, readonly lastUsedAt: string | null, readonly revokedAt: string | null, readonly enabled: boolean, readonly rateLimit: number | null } }
   | null };

export type WebhookListQueryVariables = Exact<{
  first?: number | null | undefined;
  after?: string | null | undefined;
  last?: number | null | undefined;
  before?: string | null | undefined;
}>;


export type WebhookListQuery = { readonly webhooks: { readonly totalCount: number | null, readonly nodes: ReadonlyArray<{ readonly id: string, readonly number: number, readonly url: string, readonly types: ReadonlyArray<EventType> | null, readonly environments: ReadonlyArray<EventEnvironment> | null, readonly description: string | null, readonly status: WebhookStatus, readonly disabledReason: string | null, readonly failingSince: string | null, readonly lastDeliveryAt: string | null, readonly previousSecretEndsAt: string | null, readonly createdAt: string }>, readonly pageInfo: { readonly hasNextPage: boolean, readonly hasPreviousPage: boolean, readonly startCursor: string | null, readonly endCursor: string | null } } | null };

export type WebhookQueryVariables = Exact<{
  id: string;
  first?: number | null | undefined;
  after?: string | null | undefined;
  last?: number | null | undefined;
  before?: string | null | undefined;
  status?: WebhookDeliveryStatus | null | undefined;
}>;


export type WebhookQuery = { readonly node:
    | { readonly __typename: 'ApiToken' }
    | { readonly __typename: 'Event' }
    | { readonly __typename: 'UserGroup' }
    | { readonly __typename: 'Webhook', readonly id: string, readonly number: number, readonly url: string, readonly types: ReadonlyArray<EventType> | null, readonly environments: ReadonlyArray<EventEnvironment> | null, readonly description: string | null, readonly status: WebhookStatus, readonly disabledReason: string | null, readonly failingSince: string | null, readonly lastDeliveryAt: string | null, readonly previousSecretEndsAt: string | null, readonly createdAt: string }
    | { readonly __typename: 'WebhookDelivery' }
   | null, readonly webhookDeliveries: { readonly nodes: ReadonlyArray<{ readonly id: string, readonly eventId: string, readonly type: string, readonly body: string, readonly status: WebhookDeliveryStatus, readonly attempts: number, readonly nextAttemptAt: string | null, readonly lastAttemptAt: string | null, readonly responseStatus: number | null, readonly responseBody: string | null, readonly error: string | null, readonly createdAt: string }>, readonly pageInfo: { readonly hasNextPage: boolean, readonly hasPreviousPage: boolean, readonly startCursor: string | null, readonly endCursor: string | null } } | null };

export type CreateWebhookMutationVariables = Exact<{
  input: CreateWebhookInput;
}>;


export type CreateWebhookMutation = { readonly createWebhook:
    | { readonly __typename: 'CreateWebhookPayload', readonly secret: string, readonly webhook: { readonly id: string, readonly number: number, readonly url: string, readonly types: ReadonlyArray<EventType> | null, readonly environments: ReadonlyArray<EventEnvironment> | null, readonly description: string | null, readonly status: WebhookStatus, readonly disabledReason: string | null, readonly failingSince: string | null, readonly lastDeliveryAt: string | null, readonly previousSecretEndsAt: string | null, readonly createdAt: string } }
    | { readonly __typename: 'Forbidden', readonly code: ErrorCode, readonly message: string }
    | { readonly __typename: 'InvalidInput', readonly code: ErrorCode, readonly message: string, readonly issues: ReadonlyArray<{ readonly path: ReadonlyArray<string>, readonly message: string }> }
    | { readonly __typename: 'Unauthenticated', readonly code: ErrorCode, readonly message: string }
   | null };

export type UpdateWebhookMutationVariables = Exact<{
  input: UpdateWebhookInput;
}>;


export type UpdateWebhookMutation = { readonly updateWebhook:
    | { readonly __typename: 'Forbidden', readonly code: ErrorCode, readonly message: string }
    | { readonly __typename: 'InvalidInput', readonly code: ErrorCode, readonly message: string, readonly issues: ReadonlyArray<{ readonly path: ReadonlyArray<string>, readonly message: string }> }
    | { readonly __typename: 'NotFound', readonly code: ErrorCode, readonly message: string }
    | { readonly __typename: 'Unauthenticated', readonly code: ErrorCode, readonly message: string }
    | { readonly __typename: 'UpdateWebhookPayload', readonly webhook: { readonly id: string, readonly number: number, readonly url: string, readonly types: ReadonlyArray<EventType> | null, readonly environments: ReadonlyArray<EventEnvironment> | null, readonly description: string | null, readonly status: WebhookStatus, readonly disabledReason: string | null, readonly failingSince: string | null, readonly lastDeliveryAt: string | null, readonly previousSecretEndsAt: string | null, readonly createdAt: string } }
   | null };

export type RotateWebhookSecretMutationVariables = Exact<{
  input: RotateWebhookSecretInput;
}>;


export type RotateWebhookSecretMutation = { readonly rotateWebhookSecret:
    | { readonly __typename: 'Forbidden', readonly code: ErrorCode, readonly message: string }
    | { readonly __typename: 'InvalidInput', readonly code: ErrorCode, readonly message: string, readonly issues: ReadonlyArray<{ readonly path: ReadonlyArray<string>, readonly message: string }> }
    | { readonly __typename: 'NotFound', readonly code: ErrorCode, readonly message: string }
    | { readonly __typename: 'RotateWebhookSecretPayload', readonly secret: string, readonly webhook: { readonly id: string, readonly number: number, readonly url: string, readonly types: ReadonlyArray<EventType> | null, readonly environments: ReadonlyArray<EventEnvironment> | null, readonly description: string | null, readonly status: WebhookStatus, readonly disabledReason: string | null, readonly failingSince: string | null, readonly lastDeliveryAt: string | null, readonly previousSecretEndsAt: string | null, readonly createdAt: string } }
    | { readonly __typename: 'Unauthenticated', readonly code: ErrorCode, readonly message: string }
   | null };

export type DeleteWebhookMutationVariables = Exact<{
  id: string;
}>;


export type DeleteWebhookMutation = { readonly deleteWebhook:
    | { readonly __typename: 'DeleteWebhookPayload', readonly deletedId: string }
    | { readonly __typename: 'Forbidden', readonly code: ErrorCode, readonly message: string }
    | { readonly __typename: 'InvalidInput', readonly code: ErrorCode, readonly message: string, readonly issues: ReadonlyArray<{ readonly path: ReadonlyArray<string>, readonly message: string }> }
    | { readonly __typename: 'NotFound', readonly code: ErrorCode, readonly message: string }
    | { readonly __typename: 'Unauthenticated', readonly code: ErrorCode, readonly message: string }
   | null };

export type SendTestEventMutationVariables = Exact<{
  id: string;
}>;


export type SendTestEventMutation = { readonly sendTestEvent:
    | { readonly __typename: 'Forbidden', readonly code: ErrorCode, readonly message: string }
    | { readonly __typename: 'InvalidInput', readonly code: ErrorCode, readonly message: string, readonly issues: ReadonlyArray<{ readonly path: ReadonlyArray<string>, readonly message: string }> }
    | { readonly __typename: 'NotFound', readonly code: ErrorCode, readonly message: string }
    | { readonly __typename: 'SendTestEventPayload', readonly delivery: { readonly id: string } }
    | { readonly __typename: 'Unauthenticated', readonly code: ErrorCode, readonly message: string }
   | null };

export type RedeliverEventsMutationVariables = Exact<{
  webhook: string;
  ids: ReadonlyArray<string>;
}>;


export type RedeliverEventsMutation = { readonly redeliverEvents:
    | { readonly __typename: 'Forbidden', readonly code: ErrorCode, readonly message: string }
    | { readonly __typename: 'InvalidInput', readonly code: ErrorCode, readonly message: string, readonly issues: ReadonlyArray<{ readonly path: ReadonlyArray<string>, readonly message: string }> }
    | { readonly __typename: 'NotFound', readonly code: ErrorCode, readonly message: string }
    | { readonly __typename: 'RedeliverEventsPayload', readonly deliveries: ReadonlyArray<{ readonly id: string }> | null }
    | { readonly __typename: 'Unauthenticated', readonly code: ErrorCode, readonly message: string }
   | null };

export type WebhookFieldsFragment = { readonly id: string, readonly number: number, readonly url: string, readonly types: ReadonlyArray<EventType> | null, readonly environments: ReadonlyArray<EventEnvironment> | null, readonly description: string | null, readonly status: WebhookStatus, readonly disabledReason: string | null, readonly failingSince: string | null, readonly lastDeliveryAt: string | null, readonly previousSecretEndsAt: string | null, readonly createdAt: string };

export type DeliveryFieldsFragment = { readonly id: string, readonly eventId: string, readonly type: string, readonly body: string, readonly status: WebhookDeliveryStatus, readonly attempts: number, readonly nextAttemptAt: string | null, readonly lastAttemptAt: string | null, readonly responseStatus: number | null, readonly responseBody: string | null, readonly error: string | null, readonly createdAt: string };

export type GroupAttributesFragment = { readonly name: string, readonly properties: unknown, readonly mapping: ReadonlyArray<{ readonly schemaId: string, readonly dataSource: string }> };

export type GroupTextsFragment = { readonly name: string };

export const ApiTokenList = document<ApiTokenListQuery, ApiTokenListQueryVariables>(
  "fragment ApiTokenFields on ApiToken{id number name environmentTag scopes createdAt expiresAt expired lastUsedAt revokedAt enabled rateLimit}query ApiTokenList($first:Int$after:String$last:Int$before:String$includeRevoked:Boolean!){apiTokens(first:$first after:$after last:$last before:$before includeRevoked:$includeRevoked){totalCount nodes{...ApiTokenFields}pageInfo{hasNextPage hasPreviousPage startCursor endCursor}}}",
);

export const Caller = document<CallerQuery, CallerQueryVariables>(
  "query Caller{caller{...ApiTokenFields}}fragment ApiTokenFields on ApiToken{id number name environmentTag scopes createdAt expiresAt expired lastUsedAt revokedAt enabled rateLimit}",
);

export const CheckDocsConfig = document<CheckDocsConfigQuery, CheckDocsConfigQueryVariables>(
  "query CheckDocsConfig($input:DocsConfigInput!$options:DocsConfigOptions){validateDocsConfig(input:$input options:$options){valid errorCount warningCount diagnostics{code severity message suggestion pointer url range{...RangeFields}}}}fragment RangeFields on DocsConfigRange{start{offset line column}end{offset}}",
);

export const CreateApiToken = document<CreateApiTokenMutation, CreateApiTokenMutationVariables>(
  "fragment ApiTokenFields on ApiToken{id number name environmentTag scopes createdAt expiresAt expired lastUsedAt revokedAt enabled rateLimit}fragment Failure on Error{code message ...on InvalidInput{issues{path message}}}mutation CreateApiToken($input:CreateApiTokenInput!){createApiToken(input:$input){__typename ...on CreateApiTokenPayload{secret apiToken{...ApiTokenFields}}...Failure}}",
);

export const CreateEmbedToken = document<CreateEmbedTokenMutation, CreateEmbedTokenMutationVariables>(
  "mutation CreateEmbedToken($input:CreateEmbedTokenInput!){createEmbedToken(input:$input){__typename ...on CreateEmbedTokenPayload{token expiresAt}...Failure}}fragment Failure on Error{code message ...on InvalidInput{issues{path message}}}",
);

export const CreateGroup = document<CreateGroupMutation, CreateGroupMutationVariables>(
  "mutation CreateGroup($input:GetOrCreateUserGroupInput!){getOrCreateUserGroup(input:$input){__typename ...on GetOrCreateUserGroupPayload{created userGroup{id providedId}}...Failure}}fragment Failure on Error{code message ...on InvalidInput{issues{path message}}}",
);

export const CreateWebhook = document<CreateWebhookMutation, CreateWebhookMutationVariables>(
  "fragment Failure on Error{code message ...on InvalidInput{issues{path message}}}mutation CreateWebhook($input:CreateWebhookInput!){createWebhook(input:$input){__typename ...on CreateWebhookPayload{secret webhook{...WebhookFields}}...Failure}}fragment WebhookFields on Webhook{id number url types environments description status disabledReason failingSince lastDeliveryAt previousSecretEndsAt createdAt}",
);

export const DeleteGroup = document<DeleteGroupMutation, DeleteGroupMutationVariables>(
  "fragment GroupDetail on UserGroup{id teamId providedId ...GroupAttributes environmentTag status suspendedReason lastResolvedAt createdAt updatedAt version}fragment Mismatch on VersionMismatch{userGroup{...GroupDetail}}mutation DeleteGroup($input:DeleteUserGroupInput!){deleteUserGroup(input:$input){__typename ...on DeleteUserGroupPayload{deletedId}...Mismatch ...Failure}}fragment Failure on Error{code message ...on InvalidInput{issues{path message}}}fragment GroupAttributes on UserGroup{name mapping{schemaId dataSource}properties}",
);

export const DeleteWebhook = document<DeleteWebhookMutation, DeleteWebhookMutationVariables>(
  "fragment Failure on Error{code message ...on InvalidInput{issues{path message}}}mutation DeleteWebhook($id:ID!){deleteWebhook(input:{id:$id}){__typename ...on DeleteWebhookPayload{deletedId}...Failure}}",
);

export const EnvironmentCounts = document<EnvironmentCountsQuery, EnvironmentCountsQueryVariables>(
  "query EnvironmentCounts{customer:userGroups(first:1 filter:{environmentTag:{tag:CUSTOMER}}){totalCount}testing:userGroups(first:1 filter:{environmentTag:{tag:TESTING}}){totalCount}untagged:userGroups(first:1 filter:{environmentTag:{tag:null}}){totalCount}}",
);

export const EventList = document<EventListQuery, EventListQueryVariables>(
  "query EventList($first:Int$after:String$last:Int$before:String$filter:EventFilter){events(first:$first after:$after last:$last before:$before filter:$filter){nodes{...EventRow}pageInfo{hasNextPage hasPreviousPage startCursor endCursor}}}fragment EventRow on Event{id type occurredAt requestId providedId userGroupId environment changes apiToken{id number name}actor{kind name apiToken{id number}}}",
);

export const FindGroup = document<FindGroupQuery, FindGroupQueryVariables>(
  "fragment GroupRow on UserGroup{id teamId providedId ...GroupTexts environmentTag status createdAt updatedAt version}query FindGroup($by:UserGroupBy!){userGroup(by:$by){...GroupRow}}fragment GroupTexts on UserGroup{name}",
);

export const Group = document<GroupQuery, GroupQueryVariables>(
  "query Group($by:UserGroupBy!){userGroup(by:$by){...GroupDetail}}fragment GroupDetail on UserGroup{id teamId providedId ...GroupAttributes environmentTag status suspendedReason lastResolvedAt createdAt updatedAt version}fragment GroupAttributes on UserGroup{name mapping{schemaId dataSource}properties}",
);

export const GroupCount = document<GroupCountQuery, GroupCountQueryVariables>(
  "query GroupCount($filter:UserGroupFilter){userGroups(first:1 filter:$filter){totalCount}}",
);

export const GroupExport = document<GroupExportQuery, GroupExportQueryVariables>(
  "query GroupExport($first:Int!$after:String$filter:UserGroupFilter$orderBy:UserGroupOrder){userGroups(first:$first after:$after filter:$filter orderBy:$orderBy){nodes{id providedId ...GroupAttributes status suspendedReason environmentTag}pageInfo{hasNextPage endCursor}}}fragment GroupAttributes on UserGroup{name mapping{schemaId dataSource}properties}",
);

export const GroupList = document<GroupListQuery, GroupListQueryVariables>(
  "query GroupList($first:Int$after:String$last:Int$before:String$filter:UserGroupFilter$orderBy:UserGroupOrder){userGroups(first:$first after:$after last:$last before:$before filter:$filter orderBy:$orderBy){nodes{...GroupRow}pageInfo{hasNextPage hasPreviousPage startCursor endCursor}}}fragment GroupRow on UserGroup{id teamId providedId ...GroupTexts environmentTag status createdAt updatedAt version}fragment GroupTexts on UserGroup{name}",
);

export const GroupToken = document<GroupTokenQuery, GroupTokenQueryVariables>(
  "query GroupToken($by:UserGroupBy!){userGroup(by:$by){token}}",
);

export const Instance = document<InstanceQuery, InstanceQueryVariables>(
  "query Instance{instance{version startedAt databaseVersion databaseSizeBytes}}",
);

export const Metrics = document<MetricsQuery, MetricsQueryVariables>(
  "query Metrics{metrics{total{startedAt requests latency{p50Ms p99Ms}errors{code count}}slots{startedAt requests latency{p50Ms p99Ms}}}}",
);

export const OwnCount = document<OwnCountQuery, OwnCountQueryVariables>(
  "query OwnCount{userGroups(first:1){totalCount}}",
);

export const RedeliverEvents = document<RedeliverEventsMutation, RedeliverEventsMutationVariables>(
  "fragment Failure on Error{code message ...on InvalidInput{issues{path message}}}mutation RedeliverEvents($webhook:ID!$ids:[ID!]!){redeliverEvents(webhook:$webhook input:{ids:$ids}){__typename ...on RedeliverEventsPayload{deliveries{id}}...Failure}}",
);

export const ResumeGroup = document<ResumeGroupMutation, ResumeGroupMutationVariables>(
  "fragment GroupDetail on UserGroup{id teamId providedId ...GroupAttributes environmentTag status suspendedReason lastResolvedAt createdAt updatedAt version}fragment Mismatch on VersionMismatch{userGroup{...GroupDetail}}mutation ResumeGroup($input:ResumeUserGroupInput!){resumeUserGroup(input:$input){__typename ...on ResumeUserGroupPayload{userGroup{...GroupDetail}}...Mismatch ...Failure}}fragment Failure on Error{code message ...on InvalidInput{issues{path message}}}fragment GroupAttributes on UserGroup{name mapping{schemaId dataSource}properties}",
);

export const RevokeApiToken = document<RevokeApiTokenMutation, RevokeApiTokenMutationVariables>(
  "fragment ApiTokenFields on ApiToken{id number name environmentTag scopes createdAt expiresAt expired lastUsedAt revokedAt enabled rateLimit}fragment Failure on Error{code message ...on InvalidInput{issues{path message}}}mutation RevokeApiToken($id:ID!){revokeApiToken(input:{id:$id}){__typename ...on RevokeApiTokenPayload{apiToken{...ApiTokenFields}}...Failure}}",
);

export const RotateApiToken = document<RotateApiTokenMutation, RotateApiTokenMutationVariables>(
  "fragment ApiTokenFields on ApiToken{id number name environmentTag scopes createdAt expiresAt expired lastUsedAt revokedAt enabled rateLimit}fragment Failure on Error{code message ...on InvalidInput{issues{path message}}}mutation RotateApiToken($input:RotateApiTokenInput!){rotateApiToken(input:$input){__typename ...on RotateApiTokenPayload{secret apiToken{...ApiTokenFields}}...Failure}}",
);

export const RotateGroupToken = document<RotateGroupTokenMutation, RotateGroupTokenMutationVariables>(
  "fragment GroupDetail on UserGroup{id teamId providedId ...GroupAttributes environmentTag status suspendedReason lastResolvedAt createdAt updatedAt version}fragment Mismatch on VersionMismatch{userGroup{...GroupDetail}}mutation RotateGroupToken($input:RotateUserGroupTokenInput!){rotateUserGroupToken(input:$input){__typename ...on RotateUserGroupTokenPayload{previousTokenExpiresAt userGroup{...GroupDetail token}}...Mismatch ...Failure}}fragment Failure on Error{code message ...on InvalidInput{issues{path message}}}fragment GroupAttributes on UserGroup{name mapping{schemaId dataSource}properties}",
);

export const RotateWebhookSecret = document<RotateWebhookSecretMutation, RotateWebhookSecretMutationVariables>(
  "fragment Failure on Error{code message ...on InvalidInput{issues{path message}}}mutation RotateWebhookSecret($input:RotateWebhookSecretInput!){rotateWebhookSecret(input:$input){__typename ...on RotateWebhookSecretPayload{secret webhook{...WebhookFields}}...Failure}}fragment WebhookFields on Webhook{id number url types environments description status disabledReason failingSince lastDeliveryAt previousSecretEndsAt createdAt}",
);

export const SendTestEvent = document<SendTestEventMutation, SendTestEventMutationVariables>(
  "fragment Failure on Error{code message ...on InvalidInput{issues{path message}}}mutation SendTestEvent($id:ID!){sendTestEvent(input:{id:$id}){__typename ...on SendTestEventPayload{delivery{id}}...Failure}}",
);

export const SetGroupEnvironment = document<SetGroupEnvironmentMutation, SetGroupEnvironmentMutationVariables>(
  "fragment GroupDetail on UserGroup{id teamId providedId ...GroupAttributes environmentTag status suspendedReason lastResolvedAt createdAt updatedAt version}fragment Mismatch on VersionMismatch{userGroup{...GroupDetail}}mutation SetGroupEnvironment($input:SetUserGroupEnvironmentInput!){setUserGroupEnvironment(input:$input){__typename ...on SetUserGroupEnvironmentPayload{userGroup{...GroupDetail}}...Mismatch ...Failure}}fragment Failure on Error{code message ...on InvalidInput{issues{path message}}}fragment GroupAttributes on UserGroup{name mapping{schemaId dataSource}properties}",
);

export const SuspendGroup = document<SuspendGroupMutation, SuspendGroupMutationVariables>(
  "fragment GroupDetail on UserGroup{id teamId providedId ...GroupAttributes environmentTag status suspendedReason lastResolvedAt createdAt updatedAt version}fragment Mismatch on VersionMismatch{userGroup{...GroupDetail}}mutation SuspendGroup($input:SuspendUserGroupInput!){suspendUserGroup(input:$input){__typename ...on SuspendUserGroupPayload{userGroup{...GroupDetail}}...Mismatch ...Failure}}fragment Failure on Error{code message ...on InvalidInput{issues{path message}}}fragment GroupAttributes on UserGroup{name mapping{schemaId dataSource}properties}",
);

export const UpdateApiToken = document<UpdateApiTokenMutation, UpdateApiTokenMutationVariables>(
  "fragment ApiTokenFields on ApiToken{id number name environmentTag scopes createdAt expiresAt expired lastUsedAt revokedAt enabled rateLimit}fragment Failure on Error{code message ...on InvalidInput{issues{path message}}}mutation UpdateApiToken($input:UpdateApiTokenInput!){updateApiToken(input:$input){__typename ...on UpdateApiTokenPayload{apiToken{...ApiTokenFields}}...Failure}}",
);

export const UpdateGroup = document<UpdateGroupMutation, UpdateGroupMutationVariables>(
  "fragment GroupDetail on UserGroup{id teamId providedId ...GroupAttributes environmentTag status suspendedReason lastResolvedAt createdAt updatedAt version}fragment Mismatch on VersionMismatch{userGroup{...GroupDetail}}mutation UpdateGroup($input:UpdateUserGroupInput!){updateUserGroup(input:$input){__typename ...on UpdateUserGroupPayload{userGroup{...GroupDetail}}...Mismatch ...Failure}}fragment Failure on Error{code message ...on InvalidInput{issues{path message}}}fragment GroupAttributes on UserGroup{name mapping{schemaId dataSource}properties}",
);

export const UpdateWebhook = document<UpdateWebhookMutation, UpdateWebhookMutationVariables>(
  "fragment Failure on Error{code message ...on InvalidInput{issues{path message}}}mutation UpdateWebhook($input:UpdateWebhookInput!){updateWebhook(input:$input){__typename ...on UpdateWebhookPayload{webhook{...WebhookFields}}...Failure}}fragment WebhookFields on Webhook{id number url types environments description status disabledReason failingSince lastDeliveryAt previousSecretEndsAt createdAt}",
);

export const Webhook = document<WebhookQuery, WebhookQueryVariables>(
  "query Webhook($id:ID!$first:Int$after:String$last:Int$before:String$status:WebhookDeliveryStatus){node(id:$id){__typename ...on Webhook{...WebhookFields}}webhookDeliveries(webhook:$id first:$first after:$after last:$last before:$before status:$status){nodes{...DeliveryFields}pageInfo{hasNextPage hasPreviousPage startCursor endCursor}}}fragment WebhookFields on Webhook{id number url types environments description status disabledReason failingSince lastDeliveryAt previousSecretEndsAt createdAt}fragment DeliveryFields on WebhookDelivery{id eventId type body status attempts nextAttemptAt lastAttemptAt responseStatus responseBody error createdAt}",
);

export const WebhookList = document<WebhookListQuery, WebhookListQueryVariables>(
  "query WebhookList($first:Int$after:String$last:Int$before:String){webhooks(first:$first after:$after last:$last before:$before){totalCount nodes{...WebhookFields}pageInfo{hasNextPage hasPreviousPage startCursor endCursor}}}fragment WebhookFields on Webhook{id number url types environments description status disabledReason failingSince lastDeliveryAt previousSecretEndsAt createdAt}",
);
