import type { InstanceQuery } from '../graphql/generated.ts';
import type { QueryState } from '../graphql/use-query.ts';
import { Badge } from '../ui/badge.tsx';
import { Section } from '../ui/section.tsx';
import { LoadingRows } from '../ui/states.tsx';
import { Time } from '../ui/time.tsx';

type Data = NonNullable<InstanceQuery['instance']>;
type Database = Data['database'];

/** What runs: the version of the gateway, its database and its replicas. */
export function Instance({ data, isLoading }: QueryState<InstanceQuery>) {
  const instance = data?.instance;
  return (
    <Section title="This instance" description="The gateway that responded, and its database.">
      {!instance && (isLoading ? <LoadingRows rows={2} /> : <p className="muted">Not known.</p>)}
      {instance && <Facts instance={instance} />}
    </Section>
  );
}

function Facts({ instance: { version, startedAt, database } }: { readonly instance: Data }) {
  const { isEmbedded, isReachable, serverVersion, sizeBytes, migrations } = database;
  return (
    <dl className="facts">
      <div>
        <dt>Version</dt>
        <dd>{version}</dd>
      </div>
      <div>
        <dt>Started</dt>
        <dd>
          <Time value={startedAt} />
        </dd>
      </div>
      <div>
        <dt>Database</dt>
        <dd>
          {serverVersion != null && `PostgreSQL ${serverVersion}, `}
          {isEmbedded ? 'embedded' : 'external'}
          {isReachable ? <Badge tone="good">reachable</Badge> : <Badge tone="bad">does not respond</Badge>}
        </dd>
      </div>
      {sizeBytes != null && (
        <div>
          <dt>Size</dt>
          <dd>{formatBytes(sizeBytes)}</dd>
        </div>
      )}
      {migrations && (
        <div>
          <dt>Migrations</dt>
          <dd>
            {migrations.applied} applied
            {migrations.pending > 0 && <Badge tone="bad">{migrations.pending} pending</Badge>}
          </dd>
        </div>
      )}
      {isReachable && (
        <div>
          <dt>Replicas</dt>
          <dd>
            <Replicas replicas={database.replicas} />
          </dd>
        </div>
      )}
    </dl>
  );
}

function Replicas({ replicas }: Pick<Database, 'replicas'>) {
  if (!replicas) {
    return (
      <span className="muted">
        not visible: the role of the gateway needs <code>pg_read_all_stats</code>
      </span>
    );
  }
  if (replicas.length === 0) return 'none';
  return (
    <ul className="replicas">
      {replicas.map(({ name, state, lagBytes }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: several may have the same name
        <li key={index}>
          {name} <Badge tone={state === 'streaming' ? 'good' : 'warn'}>{state}</Badge>
          {lagBytes != null && <span className="muted">{lagBytes === 0 ? 'up to date' : `${formatBytes(lagBytes)} behind`}</span>}
        </li>
      ))}
    </ul>
  );
}

/** A number of bytes in a unit that leaves few digits. */
function formatBytes(bytes: number): string {
  const units = ['bytes', 'kB', 'MB', 'GB', 'TB'];
  const power = bytes < 1 ? 0 : Math.min(Math.floor(Math.log(bytes) / Math.log(1_000)), units.length - 1);
  return `${(bytes / 1_000 ** power).toLocaleString('en', { maximumFractionDigits: power === 0 ? 0 : 1 })} ${units[power]}`;
}
