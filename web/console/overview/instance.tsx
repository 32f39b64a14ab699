import type { InstanceQuery } from '../graphql/generated.ts';
import type { QueryState } from '../graphql/use-query.ts';
import { Section } from '../ui/section.tsx';
import { LoadingRows } from '../ui/states.tsx';
import { Time } from '../ui/time.tsx';

/** What runs: the version of the gateway, and its database. */
export function Instance({ data, isLoading }: QueryState<InstanceQuery>) {
  const instance = data?.instance;
  return (
    <Section title="This instance" description="The gateway that responded, and its database.">
      {!instance && (isLoading ? <LoadingRows rows={2} /> : <p className="muted">Not known.</p>)}
      {instance && (
        <dl className="facts">
          <div>
            <dt>Version</dt>
            <dd>{instance.version}</dd>
          </div>
          <div>
            <dt>Started</dt>
            <dd>
              <Time value={instance.startedAt} />
            </dd>
          </div>
          <div>
            <dt>Database</dt>
            <dd>
              PostgreSQL {instance.databaseVersion}, {formatBytes(instance.databaseSizeBytes)}
            </dd>
          </div>
        </dl>
      )}
    </Section>
  );
}

/** A number of bytes in a unit that leaves few digits. */
function formatBytes(bytes: number): string {
  const units = ['bytes', 'kB', 'MB', 'GB', 'TB'];
  const power = bytes < 1 ? 0 : Math.min(Math.floor(Math.log(bytes) / Math.log(1_000)), units.length - 1);
  return `${(bytes / 1_000 ** power).toLocaleString('en', { maximumFractionDigits: power === 0 ? 0 : 1 })} ${units[power]}`;
}
