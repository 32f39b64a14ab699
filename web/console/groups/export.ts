import type { Client } from '../graphql/client.ts';
import { Failure } from '../graphql/failure.ts';
import {
  GroupExport,
  type GroupExportQuery,
  textAttributes,
  type UserGroupFilter,
  type UserGroupOrder,
} from '../graphql/generated.ts';
import { type SentPage, sendPage } from '../graphql/send-page.ts';
import { environmentLabel } from '../ui/badge.tsx';

/** How many groups one request reads at most: with properties and mapping, the cost of more is over the limit of a request. */
const maxPageSize = 100;

/** The most groups that the console exports, and the most characters of a file: it keeps them in memory until they are saved. */
export const maxExported = 20_000;
const maxCharacters = 100_000_000;

/** A group as it is exported. */
type ExportedGroup = NonNullable<GroupExportQuery['userGroups']>['nodes'][number];

/** What an export writes; both are texts with one group a line, CSV after a line with the names. */
export type ExportFormat = 'ndjson' | 'csv';

interface ExportRequest {
  readonly filter: UserGroupFilter | undefined;
  /** The ids of the only groups to export; all that the filter matches if undefined. */
  readonly ids: ReadonlySet<string> | undefined;
  readonly format: ExportFormat;
  readonly signal: AbortSignal;
  /** Called after each page with the number of groups so far, and when the next one has to wait for the rate limit. */
  readonly onProgress: (count: number, isWaiting: boolean) => void;
}

/** The text of a file, in parts, and how many groups are in it. */
export interface ExportedText {
  readonly parts: readonly string[];
  readonly count: number;
}

/** By what no change of a group alters: otherwise one that is changed meanwhile would move to a page that was read before. */
const orderBy: UserGroupOrder = { field: 'CREATED', direction: 'DESC' };

/**
 * Reads every group that the filter matches, page by page, as the text of a file without their tokens. Waits where the rate limit
 * of the API token is reached.
 *
 * @returns undefined if there are more than {@link maxExported}, or the text is too large for the memory of a browser.
 * @throws Failure when a page cannot be read.
 */
export async function exportGroups(client: Client, request: ExportRequest): Promise<ExportedText | undefined> {
  const { filter, ids, format, signal, onProgress } = request;
  const parts = format === 'csv' ? [`${byteOrderMark}${csvNames.join(',')}\r\n`] : [];
  let count = 0;
  let characters = 0;
  let first = maxPageSize;
  let position: string | undefined;
  const patientSend: Client['send'] = async (...operation) => {
    for (;;) {
      try {
        return await client.send(...operation);
      } catch (error) {
        if (!(error instanceof Failure) || error.code !== 'RATE_LIMITED' || !error.retryAfterSeconds) throw error;
        onProgress(count, true);
        const { retryAfterSeconds } = error;
        // If the export is aborted meanwhile, the next request fails.
        await new Promise((resolve) => setTimeout(resolve, retryAfterSeconds * 1_000));
      }
    }
  };
  const patient = { send: patientSend };
  do {
    const sent = { first, after: position ?? null, filter: filter ?? null, orderBy };
    const { response, variables }: SentPage<GroupExportQuery, typeof sent> = await sendPage(patient, GroupExport, sent, signal);
    first = Math.min(maxPageSize, 2 * variables.first); // large items may be few
    const { nodes, pageInfo } = response.data.userGroups ?? {};
    if (!nodes || !pageInfo || (pageInfo.hasNextPage && !pageInfo.endCursor)) {
      throw new Failure('INTERNAL', 'The response has no page.', { requestId: response.requestId });
    }
    const groups = ids ? nodes.filter(({ id }) => ids.has(id)) : nodes;
    const text = groups.map((group) => lineOf(group, format)).join('');
    parts.push(text);
    count += groups.length;
    characters += text.length;
    if (count > maxExported || characters > maxCharacters) return undefined;
    onProgress(count, false);
    position = (pageInfo.hasNextPage && pageInfo.endCursor) || undefined;
  } while (position !== undefined);
  return { parts, count };
}

/** Without it, Excel reads another encoding than UTF-8. */
const byteOrderMark = '\uFEFF';

const csvNames = [
  'user_group_id',
  ...textAttributes.map(({ member }) => member),
  'mapping',
  'properties',
  'status',
  'suspended_reason',
  'environment',
];

function lineOf(group: ExportedGroup, format: ExportFormat): string {
  const record = recordOf(group);
  if (format === 'ndjson') return `${JSON.stringify(record)}\n`;
  // An empty cell counts as missing when the file is imported: only a text may be.
  const cells = { ...record, properties: record.properties ?? 'null', environment: record.environment ?? 'none' };
  return `${Object.values(cells).map(cell).join(',')}\r\n`;
}

function recordOf(group: ExportedGroup) {
  const { environmentTag, mapping } = group;
  return {
    user_group_id: group.providedId,
    ...Object.fromEntries(textAttributes.map(({ name, member }) => [member, group[name]])),
    mapping: Object.fromEntries(mapping.map(({ schemaId, dataSource }) => [schemaId, dataSource])),
    properties: group.properties,
    status: group.status.toLowerCase(),
    suspended_reason: group.suspendedReason,
    environment: environmentTag === null ? null : environmentLabel(environmentTag),
  };
}

function cell(value: unknown): string {
  const text = typeof value === 'string' ? value : value === null ? '' : JSON.stringify(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
