import { createHash } from 'node:crypto';
import { PrismaPg } from '@prisma/adapter-pg';
import { type EnvironmentTag, PrismaClient } from '../../../src/generated/prisma/client.ts';
import { databaseUrl, poolSize, secretOf } from './server.ts';

/** Prisma on its PostgreSQL adapter, as its guide sets it up. */
export const prisma = new PrismaClient({
  adapter: new PrismaPg({ connectionString: databaseUrl, max: poolSize, options: '-c gateway.silent=on' }),
});

/** The caller. */
export interface Caller {
  readonly environmentTag: EnvironmentTag | null;
}

/** The holder of an API token that is neither revoked nor expired and has a scope. */
export async function findCaller(authorization: string | null | undefined, scope: string): Promise<Caller | undefined> {
  const caller = await prisma.apiToken.findUnique({
    where: { secretHash: new Uint8Array(createHash('sha256').update(secretOf(authorization)).digest()) },
    select: { environmentTag: true, scopes: true, expiresAt: true, revokedAt: true },
  });
  if (!caller || caller.revokedAt || (caller.expiresAt && caller.expiresAt <= new Date())) return undefined;
  return caller.scopes.includes(scope) ? caller : undefined;
}
