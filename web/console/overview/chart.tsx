import { type PointerEvent, useState } from 'react';

/** A line of a chart. */
export interface Series {
  readonly label: string;
  /** One for each time; null where there is none. */
  readonly values: readonly (number | null)[];
  /** Which of the colors of charts it has. */
  readonly color: 1 | 2;
}

interface ChartProps {
  readonly title: string;
  /** When each value was measured, in ISO 8601. */
  readonly times: readonly string[];
  readonly series: readonly Series[];
  /** A value with its unit. */
  readonly format: (value: number) => string;
  /** What the chart shows, in a sentence for screen readers. */
  readonly summary: string;
}

const [width, height] = [600, 120];
const clock = new Intl.DateTimeFormat('en', { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });

/**
 * A small line chart from zero, with space for a label above the greatest value; pointing at it shows the values at that time.
 */
export function Chart({ title, times, series, format, summary }: ChartProps) {
  const [pointed, setPointed] = useState<number>();
  const greatest = Math.max(...series.flatMap(({ values }) => values.map((value) => value ?? 0)), 0);
  const top = greatest > 0 ? greatest * 1.3 : 1;
  const x = (index: number) => (times.length > 1 ? (index / (times.length - 1)) * width : 0);
  const y = (value: number) => height - (value / top) * height;
  const point = ({ clientX, currentTarget }: PointerEvent) => {
    const box = currentTarget.getBoundingClientRect();
    const index = Math.round(((clientX - box.left) / box.width) * (times.length - 1));
    setPointed(Math.min(Math.max(index, 0), times.length - 1));
  };
  const shown = pointed !== undefined && pointed < times.length ? pointed : undefined;
  const timeOf = (index: number) => clock.format(new Date(times[index] ?? ''));

  return (
    <figure className="chart">
      <figcaption>
        <strong>{title}</strong>
        <span className="legend">
          {series.map(({ label, values, color }) => {
            const value = shown === undefined ? undefined : values[shown];
            return (
              <span key={label} className={`series-${color}`}>
                {series.length > 1 && label} {value == null ? '' : format(value)}
              </span>
            );
          })}
          {shown !== undefined && <span className="muted">{timeOf(shown)}</span>}
        </span>
      </figcaption>
      <div className="chart-frame">
        <span className="chart-top">{greatest > 0 ? format(greatest) : ''}</span>
        <svg
          viewBox={`0 0 ${width} ${height}`}
          preserveAspectRatio="none"
          role="img"
          aria-label={summary}
          onPointerMove={point}
          onPointerLeave={() => setPointed(undefined)}
        >
          {series.map(({ label, values, color }) => (
            <path key={label} className={`series-${color}`} d={lineThrough(values, x, y)} />
          ))}
          {series.map(({ label, values, color }) => (
            <path key={label} className={`chart-points series-${color}`} d={pointsAlone(values, x, y)} />
          ))}
          {shown !== undefined && <path className="chart-cursor" d={`M${x(shown)} 0V${height}`} />}
        </svg>
      </div>
      {times.length > 1 && (
        <div className="chart-times muted">
          <span>{timeOf(0)}</span>
          <span>{timeOf(times.length - 1)}</span>
        </div>
      )}
    </figure>
  );
}

type Scale = (value: number) => number;

/** The path through the values, interrupted where there is none. */
function lineThrough(values: readonly (number | null)[], x: Scale, y: Scale): string {
  return values
    .map((value, index) => {
      if (value === null) return '';
      return `${(values[index - 1] ?? null) === null ? 'M' : 'L'}${x(index).toFixed(1)} ${y(value).toFixed(1)}`;
    })
    .join('');
}

/** A point for each value between two that are missing: a line does not show it. */
function pointsAlone(values: readonly (number | null)[], x: Scale, y: Scale): string {
  return values
    .map((value, index) => {
      const isAlone = value !== null && (values[index - 1] ?? null) === null && (values[index + 1] ?? null) === null;
      return isAlone ? `M${x(index).toFixed(1)} ${y(value).toFixed(1)}h0.1` : '';
    })
    .join('');
}
