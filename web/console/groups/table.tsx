import { hrefOf, Link } from '../app/router.tsx';
import type { GroupRowFragment, UserGroupOrderField } from '../graphql/generated.ts';
import { furtherTexts } from '../group/text-attributes.ts';
import { EnvironmentBadge, StatusBadge } from '../ui/badge.tsx';
import { ArrowDownIcon, ArrowUpIcon } from '../ui/icons.tsx';
import { Time } from '../ui/time.tsx';
import type { ListState } from './list-state.ts';

type Selection = ReadonlyMap<string, GroupRowFragment>;

interface GroupTableProps {
  readonly rows: readonly GroupRowFragment[];
  readonly state: ListState;
  readonly selected: Selection;
  readonly isLoading: boolean;
  /** Whether the rows are those of another filter or page: none can be selected. */
  readonly isOutdated: boolean;
  readonly onSelect: (selected: Selection) => void;
  readonly onSort: (change: Pick<ListState, 'sort' | 'direction'>) => void;
}

/** A page of groups. */
export function GroupTable({ rows, state, selected, isLoading, isOutdated, onSelect, onSort }: GroupTableProps) {
  const areAllSelected = rows.every(({ id }) => selected.has(id));
  const toggle = (row: GroupRowFragment) => {
    const next = new Map(selected);
    if (!next.delete(row.id)) next.set(row.id, row);
    onSelect(next);
  };
  const sortable = { state, onSort };
  return (
    <div className="table-frame" aria-busy={isLoading}>
      <table className="table groups-table">
        <caption className="visually-hidden">User groups</caption>
        <thead>
          <tr>
            <th scope="col" className="check">
              <input
                type="checkbox"
                aria-label="Select every group on this page"
                disabled={isOutdated}
                checked={areAllSelected}
                onChange={() => onSelect(new Map(areAllSelected ? [] : rows.map((row) => [row.id, row])))}
              />
            </th>
            <SortableHeader {...sortable} field="NAME" label="Name" />
            <SortableHeader {...sortable} field="PROVIDED_ID" label="Provided id" className="wide-only" />
            {furtherTexts.map(({ name, label }) => (
              <th key={name} scope="col" className="wide-only">
                {label}
              </th>
            ))}
            <th scope="col">Environment</th>
            <SortableHeader {...sortable} field="CREATED" label="Created" className="wide-only" />
            <SortableHeader {...sortable} field="UPDATED" label="Updated" className="medium-only" />
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.id} className={selected.has(row.id) ? 'selected' : undefined}>
              <td className="check">
                <input
                  type="checkbox"
                  aria-label={`Select ${row.name}`}
                  disabled={isOutdated}
                  checked={selected.has(row.id)}
                  onChange={() => toggle(row)}
                />
              </td>
              <th scope="row">
                <Link className="clamp" href={hrefOf('group', { id: row.id })} title={row.name}>
                  {row.name.trim() || row.providedId}
                </Link>
                <code className="below clamp narrow-only" title={row.providedId}>
                  {row.providedId}
                </code>
              </th>
              <td className="wide-only">
                <code className="clamp" title={row.providedId}>
                  {row.providedId}
                </code>
              </td>
              {furtherTexts.map(({ name }) => (
                <td key={name} className="wide-only">
                  <span className="clamp" title={row[name] ?? undefined}>
                    {row[name]}
                  </span>
                </td>
              ))}
              <td>
                <EnvironmentBadge tag={row.environmentTag} /> <StatusBadge status={row.status} />
              </td>
              <td className="wide-only">
                <Time value={row.createdAt} />
              </td>
              <td className="medium-only">
                <Time value={row.updatedAt} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface SortableHeaderProps extends Pick<GroupTableProps, 'state' | 'onSort'> {
  readonly field: UserGroupOrderField;
  readonly label: string;
  readonly className?: string;
}

/** A header that sorts: first the way one reads, by name from A or from the newest, then the other way. */
function SortableHeader({ field, label, className, state, onSort }: SortableHeaderProps) {
  const isSorted = state.sort === field;
  const first = field === 'NAME' || field === 'PROVIDED_ID' ? 'ASC' : 'DESC';
  const other = state.direction === 'ASC' ? 'DESC' : 'ASC';
  const order = state.direction === 'ASC' ? 'ascending' : 'descending';
  return (
    <th scope="col" className={className} aria-sort={isSorted ? order : undefined}>
      <button type="button" className="sort" onClick={() => onSort({ sort: field, direction: isSorted ? other : first })}>
        {label}
        {isSorted && (state.direction === 'ASC' ? <ArrowUpIcon /> : <ArrowDownIcon />)}
      </button>
    </th>
  );
}
