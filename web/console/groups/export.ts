import type { Client } from '../graphql/client.ts';
import { GroupExport, type GroupExportQuery, type UserGroupFilter, type UserGroupOrder } from '../graphql/generated.ts';
import { type SentPage, sendPage } from '../graphql/send-page.ts';
import { environmentLabel } from '../ui/badge.tsx';

/** How many groups one request reads at most: with properties and mapping, the cost of more is over the limit of a request. */
const maxPageSize = 100;

/** The most groups that the console exports: it keeps them in memory until they are saved. */
export const maxExported = 20_000;

/** A group as it is exported. */
export type ExportedGroup = NonNullable<GroupExportQuery['userGroups']>['nodes'][number];

/** What an export writes; both are texts with one group a line, CSV after a line with the names. */
export type ExportFormat = 'ndjson' | 'csv';

interface ExportRequest {
  readonly filter: UserGroupFilter | undefined;
  readonly orderBy: UserGroupOrder;
  readonly signal: AbortSignal;
  /** Called after each page with the number of groups so far. */
  readonly onProgress: (count: number) => void;
}

/** Reads every group that the filter matches, at most {@link maxExported}, page by page. @throws Failure */
export async function readGroups(client: Client, { filter, orderBy, signal, onProgress }: ExportRequest) {
  const groups: ExportedGroup[] = [];
  let first = maxPageSize;
  let position: string | undefined;
  do {
    const sent = { first, after: position ?? null, filter: filter ?? null, orderBy };
    const { response, variables }: SentPage<GroupExportQuery, typeof sent> = await sendPage(client, GroupExport, sent, signal);
    first = Math.min(maxPageSize, 2 * variables.first); // large items may be few
    const page = response.data.userGroups;
    groups.push(...(page?.nodes ?? []));
    onProgress(groups.length);
    position = (page?.pageInfo.hasNextPage && page.pageInfo.endCursor) || undefined;
  } while (position !== undefined && groups.length < maxExported);
  return { groups: groups.slice(0, maxExported), isComplete: position === undefined };
}

/** The groups as the text of a file, without their tokens. */
export function formatGroups(groups: readonly ExportedGroup[], format: ExportFormat): string[] {
  if (format === 'ndjson') return groups.map((group) => `${JSON.stringify(recordOf(group))}\n`);
  const names = ['user_group_id', 'name', 'mapping', 'properties', 'environment'] as const;
  const lines = groups.map((group) => {
    const record = recordOf(group);
    return names.map((name) => cell(record[name])).join(',');
  });
  return [names.join(','), ...lines].map((line) => `${line}\r\n`);
}

function recordOf({ providedId, name, mapping, properties, environmentTag }: ExportedGroup) {
  return {
    user_group_id: providedId,
    name,
    mapping: Object.fromEntries(mapping.map(({ schemaId, dataSource }) => [schemaId, dataSource])),
    properties,
    environment: environmentTag === null ? null : environmentLabel(environmentTag),
  };
}

function cell(value: unknown): string {
  if (value === null || value === undefined) return '';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
