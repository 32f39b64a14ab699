import { Caller, type Credential } from '../../src/caller.ts';

/** A caller whose API token is only in memory. By default it has number 1, no environment and no scope. */
export const callerWith = (apiToken: Partial<Credential>, requestId?: string): Caller =>
  new Caller(
    {
      id: 1,
      name: 'test',
      environmentTag: null,
      scopes: [],
      createdAt: new Date(0),
      expiresAt: null,
      lastUsedAt: null,
      enabled: true,
      rateLimit: null,
      ...apiToken,
    },
    requestId,
  );
