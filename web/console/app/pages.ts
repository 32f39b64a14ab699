import { type ComponentType, lazy } from 'react';

/** A page of the console. */
export interface Page {
  /** The last segment of its path. */
  readonly name: string;
  readonly title: string;
  /** The scope that it needs, if it needs one for anything. */
  readonly scope?: string;
  /** Whether the navigation has it. */
  readonly isListed: boolean;
  readonly component: ComponentType;
}

/** Loaded when a person opens it. */
const Overview = lazy(() => import('../overview/overview.tsx'));
const Groups = lazy(() => import('../groups/groups.tsx'));
const Group = lazy(() => import('../group/group.tsx'));
const ApiTokens = lazy(() => import('../tokens/tokens.tsx'));
const AuditLog = lazy(() => import('../audit/audit.tsx'));
const DocsConfig = lazy(() => import('../docs-config/docs-config.tsx'));

/** The pages, in the order of the navigation. The first one is shown under the path of the console itself. */
export const pages: readonly Page[] = [
  { name: '', title: 'Overview', isListed: true, component: Overview },
  { name: 'groups', title: 'Groups', scope: 'groups:read', isListed: true, component: Groups },
  { name: 'group', title: 'Group', scope: 'groups:read', isListed: false, component: Group },
  { name: 'api-tokens', title: 'API tokens', scope: 'admin', isListed: true, component: ApiTokens },
  { name: 'audit-log', title: 'Audit log', scope: 'audit:read', isListed: true, component: AuditLog },
  { name: 'docs-config', title: 'Docs configuration', scope: 'config:validate', isListed: true, component: DocsConfig },
];
