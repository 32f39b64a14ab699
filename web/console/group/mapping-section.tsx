import { type FormEvent, type InputHTMLAttributes, useEffect, useMemo, useRef, useState } from 'react';
import { useSession } from '../app/session.tsx';
import type { GroupDetailFragment } from '../graphql/generated.ts';
import { Button } from '../ui/button.tsx';
import { FailureNotice } from '../ui/failure-notice.tsx';
import { hasLineBreaks, verbatim } from '../ui/field.tsx';
import { CloseIcon, PlusIcon } from '../ui/icons.tsx';
import { Section } from '../ui/section.tsx';
import { Choice } from './choice.tsx';
import type { GroupSectionProps } from './group.tsx';
import { failureOfRows, type MappingRow, rowIssues } from './mapping-issues.ts';
import { SaveButtons } from './save-buttons.tsx';
import { type Edited, lockedRemedy, type Part, type SaveOptions, useUpdate } from './use-update.ts';

type Mapping = Readonly<Record<string, string>>;

type Entry = GroupDetailFragment['mapping'][number];

const mappingPart: Part<Mapping> = {
  valueIn: ({ mapping }) => mappingOf(mapping),
  changeTo: (mapping, group) => ({ mapping: toEntries(mapping, group) }),
};

/** Not in the order of the object, which has names like numbers first. */
const toEntries = (mapping: Mapping, group: GroupDetailFragment): Entry[] =>
  [...new Set([...group.mapping.map(({ schemaId }) => schemaId), ...Object.keys(mapping)])]
    .filter((schemaId) => Object.hasOwn(mapping, schemaId))
    .map((schemaId) => ({ schemaId, dataSource: mapping[schemaId] ?? '' }));

function mappingOf(entries: readonly Entry[]): Mapping {
  return Object.fromEntries(entries.map(({ schemaId, dataSource }) => [schemaId, dataSource]));
}

const entriesOf = (rows: readonly MappingRow[]): readonly Entry[] =>
  rows.map(({ schemaId, dataSource }) => ({ schemaId, dataSource }));

const isStoredIn = (group: GroupDetailFragment, rows: readonly MappingRow[]): boolean =>
  JSON.stringify(entriesOf(rows)) === JSON.stringify(group.mapping);

/** The rows of a mapping. A schema that was shown before keeps its row, and so the focus that is in it. */
function rowsOf(entries: readonly Entry[], before: readonly MappingRow[]): readonly MappingRow[] {
  const keys = new Map(before.map(({ schemaId, key }) => [schemaId, key]));
  let next = nextKey(before);
  return entries.map((entry) => ({ ...entry, key: keys.get(entry.schemaId) ?? next++ }));
}

const nextKey = (rows: readonly MappingRow[]): number => rows.reduce((greatest, { key }) => Math.max(greatest, key), -1) + 1;

/** Which data source each schema has, as a table to edit. */
export function MappingSection(props: GroupSectionProps) {
  const { group } = props;
  const { can } = useSession();
  const isEditable = can('GROUPS_WRITE');
  const body = useRef<HTMLTableSectionElement>(null);
  /** Undefined while the table shows what is stored, which may change at any time. */
  const [entered, setDraft] = useState<Edited<readonly MappingRow[]>>();
  const update = useUpdate(props, mappingPart, () => setDraft(undefined));
  const draft = entered && !isStoredIn(entered.base, entered.value) ? entered : undefined;
  const base = draft?.base ?? group;
  /** The rows that were shown latest. */
  const shown = useRef<readonly MappingRow[]>([]);
  const rows = draft?.value ?? rowsOf(group.mapping, shown.current);
  useEffect(() => {
    shown.current = rows;
  });
  const setRows = (value: readonly MappingRow[]) => {
    // An undo elsewhere on the page may reach a field that is locked.
    if (!update.isLocked) setDraft({ base, value });
  };
  /** What was sent when it failed. */
  const [sent, setSent] = useState<readonly MappingRow[]>([]);
  const entries = entriesOf(rows);
  const edited = draft && { base, value: mappingOf(entries) };
  // In the order of the table, and with duplicates, which the gateway rejects.
  const first = { mapping: entries };

  const save = (value: Edited<Mapping>, options: SaveOptions) => {
    setSent(rows);
    return update.save(value, options);
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (edited) void save(edited, { first });
  };
  const discard = () => {
    setDraft(undefined);
    update.reset();
  };
  const takeStored = (rest: Edited<Mapping> | undefined) => {
    // The value has one of several rows with the same schema: the rejection says which they are.
    if (edited && Object.keys(edited.value).length < entries.length) return void save(edited, { first });
    update.reset();
    setDraft(rest && { base: rest.base, value: rowsOf(toEntries(rest.value, rest.base), rows) });
  };
  const change = (key: number, part: Partial<MappingRow>) =>
    setRows(rows.map((row) => (row.key === key ? { ...row, ...part } : row)));
  const issues = useMemo(() => (update.failure ? rowIssues(update.failure, sent, rows) : []), [update.failure, sent, rows]);
  const isInvalid = (key: number, field: 'schemaId' | 'dataSource') =>
    issues.some((issue) => issue.key === key && issue.field === field) || undefined;
  const add = () => {
    setRows([...rows, { key: nextKey(rows), schemaId: '', dataSource: '' }]);
    // The row is there after the next frame.
    requestAnimationFrame(() => body.current?.querySelector<HTMLInputElement>('tr:last-child input')?.focus());
  };

  return (
    <Section title="Mapping" description="The data source that each schema reads from, for this group.">
      <form onSubmit={(event) => void submit(event)}>
        <FailureNotice
          title="The mapping was not saved"
          failure={update.failure && failureOfRows(update.failure, issues, sent, rows)}
          unknownRemedy={lockedRemedy}
        />
        <Choice
          title="The mapping was not saved"
          whole="Mapping"
          part={mappingPart}
          edited={edited}
          stored={update.mismatch}
          isSaving={update.isRunning}
          onSaveMine={(value, over) => void save(value, { first, over })}
          onTakeStored={takeStored}
        />
        {rows.length === 0 && <p className="muted">No schema is mapped: dashboards read from their own data sources.</p>}
        {rows.length > 0 && (
          <div className="table-frame mapping-frame">
            <table className="table">
              <caption className="visually-hidden">Mapping</caption>
              <thead>
                <tr>
                  <th scope="col" className="row-number">
                    Row
                  </th>
                  <th scope="col">Schema id</th>
                  <th scope="col">Data source</th>
                  {isEditable && (
                    <th scope="col" className="check">
                      <span className="visually-hidden">Remove</span>
                    </th>
                  )}
                </tr>
              </thead>
              <tbody ref={body}>
                {rows.map(({ key, schemaId, dataSource }, index) => (
                  <tr key={key}>
                    <td className="row-number">{index + 1}</td>
                    <td>
                      <Cell
                        aria-label={`Schema id ${index + 1}`}
                        aria-invalid={isInvalid(key, 'schemaId')}
                        required
                        readOnly={!isEditable || update.isLocked}
                        value={schemaId}
                        onChange={(event) => change(key, { schemaId: event.target.value })}
                      />
                    </td>
                    <td>
                      <Cell
                        aria-label={`Data source of ${schemaId || `schema ${index + 1}`}`}
                        aria-invalid={isInvalid(key, 'dataSource')}
                        readOnly={!isEditable || update.isLocked}
                        value={dataSource}
                        onChange={(event) => change(key, { dataSource: event.target.value })}
                      />
                    </td>
                    {isEditable && (
                      <td className="check">
                        <Button
                          variant="quiet"
                          className="icon-only"
                          aria-label={`Remove ${schemaId || `schema ${index + 1}`}`}
                          disabled={update.isLocked}
                          onClick={() => setRows(rows.filter((row) => row.key !== key))}
                        >
                          <CloseIcon />
                        </Button>
                      </td>
                    )}
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )}
        {rows.some(({ schemaId, dataSource }) => hasLineBreaks(schemaId + dataSource)) && (
          <p className="muted">
            Values with line breaks are shown as JSON. They cannot be edited here: remove the row, or change it with the API.
          </p>
        )}
        {isEditable && (
          <>
            <Button className="small" disabled={update.isLocked} onClick={add}>
              <PlusIcon /> Add a schema
            </Button>
            <SaveButtons
              label="Save the mapping"
              isChanged={draft !== undefined}
              isSaving={update.isRunning}
              onDiscard={discard}
            />
          </>
        )}
      </form>
    </Section>
  );
}

/** A field of the table. It shows a value with line breaks, which it would drop when it is edited, as JSON to read. */
function Cell({ value, readOnly, ...props }: InputHTMLAttributes<HTMLInputElement> & { readonly value: string }) {
  const isUneditable = hasLineBreaks(value);
  return (
    <input
      className="input"
      {...verbatim}
      {...props}
      readOnly={isUneditable || readOnly}
      value={isUneditable ? JSON.stringify(value) : value}
    />
  );
}
