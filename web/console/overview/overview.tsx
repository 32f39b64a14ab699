import { hrefOf, Link } from '../app/router.tsx';
import { useSession } from '../app/session.tsx';
import {
  EnvironmentCounts,
  type EnvironmentCountsQuery,
  Instance as InstanceDocument,
  Metrics as MetricsDocument,
  OwnCount,
  type OwnCountQuery,
} from '../graphql/generated.ts';
import { scopeName } from '../graphql/names.ts';
import { type QueryState, useQuery } from '../graphql/use-query.ts';
import { AllEnvironmentsBadge, EnvironmentBadge, type EnvironmentChoice, tagOf } from '../ui/badge.tsx';
import { FailureNotice } from '../ui/failure-notice.tsx';
import { Section } from '../ui/section.tsx';
import { Time } from '../ui/time.tsx';
import { Instance } from './instance.tsx';
import { Metrics } from './metrics.tsx';

/** The first page: how many groups there are, and what runs, and who is signed in. */
export default function Overview() {
  const { can } = useSession();
  const isAdmin = can('ADMIN');
  const counts = useQuery(EnvironmentCounts, isAdmin ? {} : undefined);
  const ownCount = useQuery(OwnCount, !isAdmin && can('GROUPS_READ') ? {} : undefined);
  const metrics = useQuery(MetricsDocument, can('METRICS_READ') ? {} : undefined);
  const instance = useQuery(InstanceDocument, can('METRICS_READ') ? {} : undefined);
  // Together, because they mostly have the same cause, such as a database that does not respond.
  const failed = [counts, ownCount, metrics, instance].filter(({ failure }) => failure);
  return (
    <>
      <header className="page-header">
        <h1>Overview</h1>
      </header>
      <FailureNotice
        title={failed.length > 1 ? 'The overview could not be loaded' : 'A part of the overview could not be loaded'}
        failure={failed[0]?.failure}
        onRetry={() => {
          for (const { reload } of failed) reload();
        }}
      />
      {isAdmin ? <CountsOfAll {...counts} /> : can('GROUPS_READ') && <OwnEnvironment {...ownCount} />}
      {can('METRICS_READ') && <Metrics {...metrics} />}
      {can('METRICS_READ') && <Instance {...instance} />}
      <Identity />
    </>
  );
}

function CountsOfAll({ data, isLoading }: QueryState<EnvironmentCountsQuery>) {
  return (
    <section aria-label="Groups per environment">
      <div className="cards" aria-busy={isLoading}>
        <CountCard environment="CUSTOMER" isLoading={isLoading} count={data?.customer?.totalCount} isFiltered />
        <CountCard environment="TESTING" isLoading={isLoading} count={data?.testing?.totalCount} isFiltered />
        <CountCard environment="UNTAGGED" isLoading={isLoading} count={data?.untagged?.totalCount} isFiltered />
      </div>
    </section>
  );
}

function OwnEnvironment({ data, isLoading }: QueryState<OwnCountQuery>) {
  const { caller } = useSession();
  return (
    <section aria-label="Groups of the environment">
      <div className="cards" aria-busy={isLoading}>
        <CountCard environment={caller.environmentTag ?? 'UNTAGGED'} isLoading={isLoading} count={data?.userGroups?.totalCount} />
      </div>
    </section>
  );
}

interface CountCardProps {
  readonly environment: EnvironmentChoice;
  readonly isLoading: boolean;
  /** null: counting took too long. */
  readonly count: number | null | undefined;
  /** Whether the link leads to the groups of this environment among several. */
  readonly isFiltered?: boolean;
}

function CountCard({ environment, isLoading, count, isFiltered = false }: CountCardProps) {
  const text = count === undefined ? (isLoading ? '…' : '–') : (count?.toLocaleString('en') ?? 'many');
  return (
    <Link className="card" href={hrefOf('groups', isFiltered ? { environment } : {})}>
      <span className="card-value">{text}</span>
      <span className="card-label">
        {count === 1 ? 'group' : 'groups'} <EnvironmentBadge tag={tagOf(environment)} />
      </span>
    </Link>
  );
}

function Identity() {
  const { caller, can } = useSession();
  return (
    <Section title="Signed in with">
      <dl className="facts">
        <div>
          <dt>API token</dt>
          <dd>
            <bdi>{caller.name}</bdi> <span className="muted">#{caller.number}</span>
          </dd>
        </div>
        <div>
          <dt>Environment</dt>
          <dd>{can('ADMIN') ? <AllEnvironmentsBadge /> : <EnvironmentBadge tag={caller.environmentTag} />}</dd>
        </div>
        <div>
          <dt>Scopes</dt>
          <dd className="scope-list">
            {caller.scopes.map((scope) => (
              <code key={scope}>{scopeName(scope)}</code>
            ))}
          </dd>
        </div>
        <div>
          <dt>Expires</dt>
          <dd>{caller.expiresAt ? <Time value={caller.expiresAt} /> : 'never'}</dd>
        </div>
      </dl>
    </Section>
  );
}
