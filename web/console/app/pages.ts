import { type ComponentType, lazy } from 'react';
import { Failure } from '../graphql/failure.ts';
import type { Scope } from '../graphql/generated.ts';

/** A page of the console. */
export interface Page {
  /** The last segment of its path. */
  readonly name: string;
  readonly title: string;
  /** The scope that it needs, if it needs one for anything. */
  readonly scope?: Scope;
  /** Whether the navigation has it. */
  readonly isListed: boolean;
  readonly component: ComponentType;
}

/** A component that is loaded when a person opens its page. After an update of the gateway its script may be gone. */
const loaded = (load: () => Promise<{ readonly default: ComponentType }>) =>
  lazy(() =>
    load().catch(() => {
      const text =
        'A part of the console could not be loaded. If the gateway was updated in the meantime, reloading the page helps.';
      throw new Failure('NETWORK', text);
    }),
  );

const Overview = loaded(() => import('../overview/overview.tsx'));
const Groups = loaded(() => import('../groups/groups.tsx'));
const Group = loaded(() => import('../group/group.tsx'));
const ApiTokens = loaded(() => import('../tokens/tokens.tsx'));
const Webhooks = loaded(() => import('../webhooks/webhooks.tsx'));
const Webhook = loaded(() => import('../webhooks/webhook.tsx'));
const AuditLog = loaded(() => import('../audit/audit.tsx'));
const DocsConfig = loaded(() => import('../docs-config/docs-config.tsx'));

/** The pages, in the order of the navigation. The first one is shown under the path of the console itself. */
export const pages: readonly Page[] = [
  { name: '', title: 'Overview', isListed: true, component: Overview },
  { name: 'groups', title: 'Groups', scope: 'GROUPS_READ', isListed: true, component: Groups },
  { name: 'group', title: 'Group', scope: 'GROUPS_READ', isListed: false, component: Group },
  { name: 'api-tokens', title: 'API tokens', scope: 'ADMIN', isListed: true, component: ApiTokens },
  { name: 'webhooks', title: 'Webhooks', scope: 'ADMIN', isListed: true, component: Webhooks },
  { name: 'webhook', title: 'Webhook', scope: 'ADMIN', isListed: false, component: Webhook },
  { name: 'audit-log', title: 'Audit log', scope: 'AUDIT_READ', isListed: true, component: AuditLog },
  { name: 'docs-config', title: 'Docs configuration', isListed: true, component: DocsConfig },
];
