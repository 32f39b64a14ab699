import { type FormEvent, useRef, useState } from 'react';
import { useSession } from '../app/session.tsx';
import { Button } from '../ui/button.tsx';
import { FailureNotice } from '../ui/failure-notice.tsx';
import { CloseIcon, PlusIcon } from '../ui/icons.tsx';
import { Section } from '../ui/section.tsx';
import type { GroupSectionProps } from './group.tsx';
import { SaveButtons } from './save-buttons.tsx';
import { useUpdate } from './use-update.ts';

interface Row {
  readonly key: number;
  readonly schemaId: string;
  readonly dataSource: string;
}

/** Which data source each schema has, as a table to edit. */
export function MappingSection(props: GroupSectionProps) {
  const { group } = props;
  const { can } = useSession();
  const isEditable = can('groups:write');
  const nextKey = useRef(0);
  const body = useRef<HTMLTableSectionElement>(null);
  const rowsOf = ({ mapping }: Pick<typeof group, 'mapping'>): readonly Row[] =>
    mapping.map((entry) => {
      nextKey.current += 1;
      return { ...entry, key: nextKey.current };
    });
  const [rows, setRows] = useState(() => rowsOf(group));
  const update = useUpdate(props);
  const entries = rows.map(({ schemaId, dataSource }) => ({ schemaId, dataSource }));
  const isChanged = JSON.stringify(entries) !== JSON.stringify(group.mapping);

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const saved = await update.run({ mapping: entries });
    if (saved) setRows(rowsOf(saved));
  };
  const change = (key: number, part: Partial<Row>) => setRows(rows.map((row) => (row.key === key ? { ...row, ...part } : row)));
  const add = () => {
    nextKey.current += 1;
    setRows([...rows, { key: nextKey.current, schemaId: '', dataSource: '' }]);
    // The row is there after the next frame.
    requestAnimationFrame(() => body.current?.querySelector<HTMLInputElement>('tr:last-child input')?.focus());
  };

  return (
    <Section title="Mapping" description="The data source that each schema reads from, for this group.">
      <form onSubmit={(event) => void submit(event)}>
        <FailureNotice title="The mapping was not saved" failure={update.failure} />
        {rows.length === 0 && <p className="muted">No schema is mapped: dashboards read from their own data sources.</p>}
        {rows.length > 0 && (
          <div className="table-frame mapping-frame">
            <table className="table">
              <caption className="visually-hidden">Mapping</caption>
              <thead>
                <tr>
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
                    <td>
                      <input
                        className="input"
                        aria-label={`Schema id ${index + 1}`}
                        aria-invalid={update.failure?.issueAt('mapping', String(index), 'schemaId') ? true : undefined}
                        required
                        maxLength={255}
                        readOnly={!isEditable}
                        value={schemaId}
                        onChange={(event) => change(key, { schemaId: event.target.value })}
                      />
                    </td>
                    <td>
                      <input
                        className="input"
                        aria-label={`Data source of ${schemaId || `schema ${index + 1}`}`}
                        aria-invalid={update.failure?.issueAt('mapping', String(index), 'dataSource') ? true : undefined}
                        maxLength={255}
                        readOnly={!isEditable}
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
        {isEditable && (
          <>
            <Button className="small" onClick={add}>
              <PlusIcon /> Add a schema
            </Button>
            <SaveButtons
              label="Save the mapping"
              isChanged={isChanged}
              isSaving={update.isRunning}
              onDiscard={() => {
                setRows(rowsOf(group));
                update.reset();
              }}
            />
          </>
        )}
      </form>
    </Section>
  );
}
