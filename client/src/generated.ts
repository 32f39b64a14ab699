// Generated from operations.graphql and the attributes of user groups by `npm run generate`. Do not edit.
import type { TypedText } from './document.ts';

/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
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

/** Whose embed tokens are revoked. */
export type RevokeEmbedTokensInput = {
  /** Selects the group. */
  readonly by: UserGroupBy;
  /** The id of the viewer: 1 to 255 characters. Defaults to all embed tokens of the group, with a viewer and without. */
  readonly viewerId?: string | null | undefined;
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

/** A user group that views, without its token. */
export type Viewer = (
  { readonly id: string, readonly teamId: number, readonly providedId: string, readonly environmentTag: EnvironmentTag | null, readonly status: UserGroupStatus, readonly suspendedReason: string | null, readonly lastResolvedAt: string | null, readonly createdAt: string, readonly updatedAt: string, readonly version: number }
  & GroupAttributes
);

/** A user group, with its current token. */
export type UserGroup = (
  { readonly token: string }
  & Viewer
);

/** A change that was made. */
export type Event = { readonly id: string, readonly type: EventType, readonly occurredAt: string, readonly requestId: string | null, readonly userGroupId: string | null, readonly providedId: string | null, readonly environment: EventEnvironment, readonly changes: unknown };

type Failure_Conflict = { readonly code: ErrorCode, readonly message: string };

type Failure_Forbidden = { readonly code: ErrorCode, readonly message: string };

type Failure_InvalidInput = { readonly code: ErrorCode, readonly message: string, readonly issues: ReadonlyArray<{ readonly path: ReadonlyArray<string>, readonly message: string }> };

type Failure_NotFound = { readonly code: ErrorCode, readonly message: string };

type Failure_Suspended = { readonly code: ErrorCode, readonly message: string };

type Failure_Unauthenticated = { readonly code: ErrorCode, readonly message: string };

type Failure_VersionMismatch = { readonly code: ErrorCode, readonly message: string, readonly userGroup: Viewer };

export type Failure =
  | Failure_Conflict
  | Failure_Forbidden
  | Failure_InvalidInput
  | Failure_NotFound
  | Failure_Suspended
  | Failure_Unauthenticated
  | Failure_VersionMismatch
;

export type ResolveViewerVariables = Exact<{
  token: string;
}>;


export type ResolveViewer = { readonly result: Viewer | null };

export type GetUserGroupVariables = Exact<{
  by: UserGroupBy;
}>;


export type GetUserGroup = { readonly result: UserGroup | null };

export type ListUserGroupsVariables = Exact<{
  first: number;
  after?: string | null | undefined;
  filter?: UserGroupFilter | null | undefined;
  orderBy?: UserGroupOrder | null | undefined;
}>;


export type ListUserGroups = { readonly result: { readonly nodes: ReadonlyArray<UserGroup>, readonly pageInfo: { readonly hasNextPage: boolean, readonly endCursor: string | null } } | null };

export type ReadEventFeedVariables = Exact<{
  after?: string | null | undefined;
  first?: number | null | undefined;
  types?: ReadonlyArray<EventType> | null | undefined;
  waitSeconds?: number | null | undefined;
}>;


export type ReadEventFeed = { readonly result: { readonly cursor: string, readonly hasMore: boolean, readonly nodes: ReadonlyArray<Event> } | null };

export type GetOrCreateUserGroupVariables = Exact<{
  input: GetOrCreateUserGroupInput;
}>;


export type GetOrCreateUserGroup = { readonly result:
    | Failure_Conflict
    | Failure_Forbidden
    | { readonly created: boolean, readonly userGroup: UserGroup }
    | Failure_InvalidInput
    | Failure_Unauthenticated
   | null };

export type UpdateUserGroupVariables = Exact<{
  input: UpdateUserGroupInput;
}>;


export type UpdateUserGroup = { readonly result:
    | Failure_Forbidden
    | Failure_InvalidInput
    | Failure_NotFound
    | Failure_Unauthenticated
    | { readonly userGroup: UserGroup }
    | Failure_VersionMismatch
   | null };

export type RotateUserGroupTokenVariables = Exact<{
  input: RotateUserGroupTokenInput;
}>;


export type RotateUserGroupToken = { readonly result:
    | Failure_Forbidden
    | Failure_InvalidInput
    | Failure_NotFound
    | { readonly previousTokenExpiresAt: string | null, readonly userGroup: UserGroup }
    | Failure_Unauthenticated
    | Failure_VersionMismatch
   | null };

export type DeleteUserGroupVariables = Exact<{
  input: DeleteUserGroupInput;
}>;


export type DeleteUserGroup = { readonly result:
    | { readonly deletedId: string }
    | Failure_Forbidden
    | Failure_InvalidInput
    | Failure_NotFound
    | Failure_Unauthenticated
    | Failure_VersionMismatch
   | null };

export type SetUserGroupEnvironmentVariables = Exact<{
  input: SetUserGroupEnvironmentInput;
}>;


export type SetUserGroupEnvironment = { readonly result:
    | Failure_Conflict
    | Failure_Forbidden
    | Failure_InvalidInput
    | Failure_NotFound
    | { readonly userGroup: UserGroup }
    | Failure_Unauthenticated
    | Failure_VersionMismatch
   | null };

export type CreateEmbedTokenVariables = Exact<{
  input: CreateEmbedTokenInput;
}>;


export type CreateEmbedToken = { readonly result:
    | { readonly token: string, readonly expiresAt: string }
    | Failure_Forbidden
    | Failure_InvalidInput
    | Failure_NotFound
    | Failure_Suspended
    | Failure_Unauthenticated
   | null };

export type SuspendUserGroupVariables = Exact<{
  input: SuspendUserGroupInput;
}>;


export type SuspendUserGroup = { readonly result:
    | Failure_Forbidden
    | Failure_InvalidInput
    | Failure_NotFound
    | { readonly userGroup: UserGroup }
    | Failure_Unauthenticated
    | Failure_VersionMismatch
   | null };

export type ResumeUserGroupVariables = Exact<{
  input: ResumeUserGroupInput;
}>;


export type ResumeUserGroup = { readonly result:
    | Failure_Forbidden
    | Failure_InvalidInput
    | Failure_NotFound
    | { readonly userGroup: UserGroup }
    | Failure_Unauthenticated
    | Failure_VersionMismatch
   | null };

export type RevokeEmbedTokensVariables = Exact<{
  input: RevokeEmbedTokensInput;
}>;


export type RevokeEmbedTokens = { readonly result:
    | Failure_Forbidden
    | Failure_InvalidInput
    | Failure_NotFound
    | { readonly userGroup: Viewer }
    | Failure_Unauthenticated
   | null };

export type GroupAttributes = { readonly name: string, readonly properties: unknown, readonly mapping: ReadonlyArray<{ readonly schemaId: string, readonly dataSource: string }> };

export const CreateEmbedToken = "fragment Viewer on UserGroup{id teamId providedId ...GroupAttributes environmentTag status suspendedReason lastResolvedAt createdAt updatedAt version}fragment Failure on Error{code message ...on InvalidInput{issues{path message}}...on VersionMismatch{userGroup{...Viewer}}}mutation CreateEmbedToken($input:CreateEmbedTokenInput!){result:createEmbedToken(input:$input){...on CreateEmbedTokenPayload{token expiresAt}...Failure}}fragment GroupAttributes on UserGroup{name mapping{schemaId dataSource}properties}" as TypedText<CreateEmbedToken, CreateEmbedTokenVariables>;

export const DeleteUserGroup = "fragment Viewer on UserGroup{id teamId providedId ...GroupAttributes environmentTag status suspendedReason lastResolvedAt createdAt updatedAt version}fragment Failure on Error{code message ...on InvalidInput{issues{path message}}...on VersionMismatch{userGroup{...Viewer}}}mutation DeleteUserGroup($input:DeleteUserGroupInput!){result:deleteUserGroup(input:$input){...on DeleteUserGroupPayload{deletedId}...Failure}}fragment GroupAttributes on UserGroup{name mapping{schemaId dataSource}properties}" as TypedText<DeleteUserGroup, DeleteUserGroupVariables>;

export const GetOrCreateUserGroup = "fragment Viewer on UserGroup{id teamId providedId ...GroupAttributes environmentTag status suspendedReason lastResolvedAt createdAt updatedAt version}fragment UserGroup on UserGroup{...Viewer token}fragment Failure on Error{code message ...on InvalidInput{issues{path message}}...on VersionMismatch{userGroup{...Viewer}}}mutation GetOrCreateUserGroup($input:GetOrCreateUserGroupInput!){result:getOrCreateUserGroup(input:$input){...on GetOrCreateUserGroupPayload{created userGroup{...UserGroup}}...Failure}}fragment GroupAttributes on UserGroup{name mapping{schemaId dataSource}properties}" as TypedText<GetOrCreateUserGroup, GetOrCreateUserGroupVariables>;

export const GetUserGroup = "fragment Viewer on UserGroup{id teamId providedId ...GroupAttributes environmentTag status suspendedReason lastResolvedAt createdAt updatedAt version}fragment UserGroup on UserGroup{...Viewer token}query GetUserGroup($by:UserGroupBy!){result:userGroup(by:$by){...UserGroup}}fragment GroupAttributes on UserGroup{name mapping{schemaId dataSource}properties}" as TypedText<GetUserGroup, GetUserGroupVariables>;

export const ListUserGroups = "fragment Viewer on UserGroup{id teamId providedId ...GroupAttributes environmentTag status suspendedReason lastResolvedAt createdAt updatedAt version}fragment UserGroup on UserGroup{...Viewer token}query ListUserGroups($first:Int!$after:String$filter:UserGroupFilter$orderBy:UserGroupOrder){result:userGroups(first:$first after:$after filter:$filter orderBy:$orderBy){nodes{...UserGroup}pageInfo{hasNextPage endCursor}}}fragment GroupAttributes on UserGroup{name mapping{schemaId dataSource}properties}" as TypedText<ListUserGroups, ListUserGroupsVariables>;

export const ReadEventFeed = "fragment Event on Event{id type occurredAt requestId userGroupId providedId environment changes}query ReadEventFeed($after:String$first:Int$types:[EventType!]$waitSeconds:Int){result:eventFeed(after:$after first:$first types:$types waitSeconds:$waitSeconds){nodes{...Event}cursor hasMore}}" as TypedText<ReadEventFeed, ReadEventFeedVariables>;

export const ResolveViewer = "fragment Viewer on UserGroup{id teamId providedId ...GroupAttributes environmentTag status suspendedReason lastResolvedAt createdAt updatedAt version}query ResolveViewer($token:String!){result:userGroup(by:{token:$token}){...Viewer}}fragment GroupAttributes on UserGroup{name mapping{schemaId dataSource}properties}" as TypedText<ResolveViewer, ResolveViewerVariables>;

export const ResumeUserGroup = "fragment Viewer on UserGroup{id teamId providedId ...GroupAttributes environmentTag status suspendedReason lastResolvedAt createdAt updatedAt version}fragment UserGroup on UserGroup{...Viewer token}fragment Failure on Error{code message ...on InvalidInput{issues{path message}}...on VersionMismatch{userGroup{...Viewer}}}mutation ResumeUserGroup($input:ResumeUserGroupInput!){result:resumeUserGroup(input:$input){...on ResumeUserGroupPayload{userGroup{...UserGroup}}...Failure}}fragment GroupAttributes on UserGroup{name mapping{schemaId dataSource}properties}" as TypedText<ResumeUserGroup, ResumeUserGroupVariables>;

export const RevokeEmbedTokens = "fragment Viewer on UserGroup{id teamId providedId ...GroupAttributes environmentTag status suspendedReason lastResolvedAt createdAt updatedAt version}fragment Failure on Error{code message ...on InvalidInput{issues{path message}}...on VersionMismatch{userGroup{...Viewer}}}mutation RevokeEmbedTokens($input:RevokeEmbedTokensInput!){result:revokeEmbedTokens(input:$input){...on RevokeEmbedTokensPayload{userGroup{...Viewer}}...Failure}}fragment GroupAttributes on UserGroup{name mapping{schemaId dataSource}properties}" as TypedText<RevokeEmbedTokens, RevokeEmbedTokensVariables>;

export const RotateUserGroupToken = "fragment Viewer on UserGroup{id teamId providedId ...GroupAttributes environmentTag status suspendedReason lastResolvedAt createdAt updatedAt version}fragment UserGroup on UserGroup{...Viewer token}fragment Failure on Error{code message ...on InvalidInput{issues{path message}}...on VersionMismatch{userGroup{...Viewer}}}mutation RotateUserGroupToken($input:RotateUserGroupTokenInput!){result:rotateUserGroupToken(input:$input){...on RotateUserGroupTokenPayload{previousTokenExpiresAt userGroup{...UserGroup}}...Failure}}fragment GroupAttributes on UserGroup{name mapping{schemaId dataSource}properties}" as TypedText<RotateUserGroupToken, RotateUserGroupTokenVariables>;

export const SetUserGroupEnvironment = "fragment Viewer on UserGroup{id teamId providedId ...GroupAttributes environmentTag status suspendedReason lastResolvedAt createdAt updatedAt version}fragment UserGroup on UserGroup{...Viewer token}fragment Failure on Error{code message ...on InvalidInput{issues{path message}}...on VersionMismatch{userGroup{...Viewer}}}mutation SetUserGroupEnvironment($input:SetUserGroupEnvironmentInput!){result:setUserGroupEnvironment(input:$input){...on SetUserGroupEnvironmentPayload{userGroup{...UserGroup}}...Failure}}fragment GroupAttributes on UserGroup{name mapping{schemaId dataSource}properties}" as TypedText<SetUserGroupEnvironment, SetUserGroupEnvironmentVariables>;

export const SuspendUserGroup = "fragment Viewer on UserGroup{id teamId providedId ...GroupAttributes environmentTag status suspendedReason lastResolvedAt createdAt updatedAt version}fragment UserGroup on UserGroup{...Viewer token}fragment Failure on Error{code message ...on InvalidInput{issues{path message}}...on VersionMismatch{userGroup{...Viewer}}}mutation SuspendUserGroup($input:SuspendUserGroupInput!){result:suspendUserGroup(input:$input){...on SuspendUserGroupPayload{userGroup{...UserGroup}}...Failure}}fragment GroupAttributes on UserGroup{name mapping{schemaId dataSource}properties}" as TypedText<SuspendUserGroup, SuspendUserGroupVariables>;

export const UpdateUserGroup = "fragment Viewer on UserGroup{id teamId providedId ...GroupAttributes environmentTag status suspendedReason lastResolvedAt createdAt updatedAt version}fragment UserGroup on UserGroup{...Viewer token}fragment Failure on Error{code message ...on InvalidInput{issues{path message}}...on VersionMismatch{userGroup{...Viewer}}}mutation UpdateUserGroup($input:UpdateUserGroupInput!){result:updateUserGroup(input:$input){...on UpdateUserGroupPayload{userGroup{...UserGroup}}...Failure}}fragment GroupAttributes on UserGroup{name mapping{schemaId dataSource}properties}" as TypedText<UpdateUserGroup, UpdateUserGroupVariables>;
