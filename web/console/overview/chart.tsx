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

/** A small line chart from zero, with space for a label above the greatest value; pointing at it shows the values at that time. */
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

/** The path through the values, interrupted where there is none; a value alone is a short line, so that it can be seen. */
function lineThrough(values: readonly (number | null)[], x: (index: number) => number, y: (value: number) => number): string {
  return values
    .map((value, index) => {
      if (value === null) return '';
      const at = `${x(index).toFixed(1)} ${y(value).toFixed(1)}`;
      const isFirst = (values[index - 1] ?? null) === null;
      return isFirst ? `M${at}h0.1` : `L${at}`;
    })
    .join('');
}
