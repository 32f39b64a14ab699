import { useEffect } from 'react';
import { outsideHref } from '../app/router.tsx';
import type { MetricsQuery } from '../graphql/generated.ts';
import type { QueryState } from '../graphql/use-query.ts';
import { Section } from '../ui/section.tsx';
import { LoadingRows } from '../ui/states.tsx';
import { Time } from '../ui/time.tsx';
import { Chart } from './chart.tsx';

/** The seconds of a slot. */
const slotSeconds = 60;

/** How often the charts are loaded again while the page is visible: as often as there is a new slot. */
const refreshMs = slotSeconds * 1_000;

type Data = NonNullable<MetricsQuery['metrics']>;

const count = (value: number) => value.toLocaleString('en', { maximumFractionDigits: value < 10 ? 2 : 0 });
const perSecond = (value: number) => `${count(value)}/s`;
const milliseconds = (value: number) => `${count(value)} ms`;

/** The requests of the last hour to this instance of the gateway. */
export function Metrics({ data, isLoading, reload }: QueryState<MetricsQuery>) {
  useEffect(() => {
    const timer = setInterval(() => {
      if (!document.hidden) reload();
    }, refreshMs);
    return () => clearInterval(timer);
  }, [reload]);
  const metrics = data?.metrics;
  return (
    <Section
      title="Requests of the last hour"
      description="To the APIs of this instance of the gateway. Other instances are not included."
    >
      {!metrics && (isLoading ? <LoadingRows rows={4} /> : <p className="muted">Not known.</p>)}
      {metrics && <Charts metrics={metrics} />}
    </Section>
  );
}

function Charts({ metrics: { total, slots: all } }: { readonly metrics: Data }) {
  const { startedAt: since, requests, latency, errors } = total;
  const slots = all.length > 1 ? all.slice(0, -1) : all; // the last one is not over
  const times = slots.map(({ startedAt }) => startedAt);
  const latencies = latency
    ? `half took at most ${milliseconds(latency.p50Ms)}, 99% at most ${milliseconds(latency.p99Ms)}`
    : 'none';
  return (
    <>
      <div className="charts">
        <Chart
          title="Requests per second"
          times={times}
          series={[{ label: 'Requests', values: slots.map((slot) => slot.requests / slotSeconds), color: 1 }]}
          format={perSecond}
          summary={`${count(requests)} requests in the last hour.`}
        />
        <Chart
          title="Latency"
          times={times}
          series={[
            { label: 'p50', values: slots.map((slot) => slot.latency?.p50Ms ?? null), color: 1 },
            { label: 'p99', values: slots.map((slot) => slot.latency?.p99Ms ?? null), color: 2 },
          ]}
          format={milliseconds}
          summary={`Latency: ${latencies}.`}
        />
      </div>
      <dl className="facts">
        <div>
          <dt>Requests</dt>
          <dd>{count(requests)}</dd>
        </div>
        <div>
          <dt>Latency, half of them</dt>
          <dd>{latency ? `at most ${milliseconds(latency.p50Ms)}` : '–'}</dd>
        </div>
        <div>
          <dt>Latency, 99%</dt>
          <dd>{latency ? `at most ${milliseconds(latency.p99Ms)}` : '–'}</dd>
        </div>
        <div>
          <dt>Counted since</dt>
          <dd>
            <Time value={since} />
          </dd>
        </div>
      </dl>
      <h3>Errors</h3>
      {errors.length === 0 && <p className="muted">None.</p>}
      {errors.length > 0 && (
        <ul className="error-counts">
          {errors.map(({ code, count: number }) => (
            <li key={code}>
              <a href={outsideHref(`docs/errors/${code}`)}>{code}</a> <span>{count(number)}</span>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
