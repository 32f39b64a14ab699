import type { Prisma, Webhook } from '../generated/prisma/client.ts';

type Shown = Pick<Webhook, 'url' | 'types' | 'environments' | 'description' | 'enabled' | 'disabledReason'>;

/** What differs between two states of a webhook, as the audit log has it. */
export function changesOf(before: Shown | undefined, after: Shown): Prisma.InputJsonObject {
  const [from, to] = [before && shown(before), shown(after)];
  const differing = Object.entries(to).flatMap(([field, value]) => {
    const old = from?.[field] ?? null;
    return JSON.stringify(old) === JSON.stringify(value) ? [] : [[field, { from: old, to: value }]];
  });
  const changes = Object.fromEntries(differing);
  return before && before.url !== after.url ? { url: { from: from?.['url'], to: to['url'] }, ...changes } : changes;
}

/** Of the URL the origin alone: its path may be a secret. */
const shown = (webhook: Shown): Record<string, Prisma.InputJsonValue | null> => {
  const { url, types, environments, description, enabled, disabledReason } = webhook;
  return {
    url: new URL(url).origin,
    types: types.length > 0 ? types : null,
    environments: environments.length > 0 ? environments.map((name) => name.toUpperCase()) : null,
    description,
    enabled,
    disabledReason,
  };
};
