export type { TypedDocument } from './document.ts';
export {
  type Clock,
  createEmbedTokenProvider,
  type EmbedTokenProvider,
  type EmbedTokenProviderOptions,
  type EmbedTokenResponse,
} from './embed-token-provider.ts';
export { createEmbedTokenVerifier, type EmbedTokenClaims, type EmbedTokenVerifierOptions } from './embed-token-verifier.ts';
export {
  ConflictError,
  EmbedTokenError,
  ForbiddenError,
  GatewayError,
  type GatewayErrorCode,
  type GatewayErrorDetails,
  InvalidInputError,
  type Issue,
  NetworkError,
  NotFoundError,
  RateLimitedError,
  SuspendedError,
  UnauthenticatedError,
  UnavailableError,
  VersionMismatchError,
  WebhookError,
} from './errors.ts';
export type { EventPage, Events, FollowOptions } from './events.ts';
export { type EmbedTokens, type ListOptions, UserGroupGateway, type UserGroups } from './gateway.ts';
export type {
  CreateEmbedTokenInput,
  DataSourceMappingInput,
  DeleteUserGroupInput,
  EmbedViewerInput,
  EnvironmentTag,
  ErrorCode,
  Event,
  EventEnvironment,
  EventType,
  GetOrCreateUserGroupInput,
  ResumeUserGroupInput,
  RevokeEmbedTokensInput,
  RotateUserGroupTokenInput,
  SetUserGroupEnvironmentInput,
  SuspendUserGroupInput,
  UpdateUserGroupInput,
  UserGroup,
  UserGroupBy,
  UserGroupFilter,
  UserGroupOrder,
  Viewer,
} from './generated.ts';
export type { CallOptions, Fetch, GatewayOptions, RequestReport } from './send.ts';
export { verifyWebhook, type WebhookEvent, type WebhookHeaders } from './webhooks.ts';
