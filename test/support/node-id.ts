import { encodeGlobalID } from '@pothos/plugin-relay';

/** The globally unique ID of the webhook with this number. */
export const webhookId = (number: number): string => encodeGlobalID('Webhook', number);

/** The globally unique ID of the API token with this number. */
export const apiTokenId = (number: number): string => encodeGlobalID('ApiToken', number);
