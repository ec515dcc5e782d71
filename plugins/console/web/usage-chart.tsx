import { texts } from './texts.ts';
import { count, dayOf } from './times.ts';

/** One day of the chart. */
export interface ChartDay {
  readonly day: string;
  readonly sends: number;
  readonly newContacts: number;
}

const [width, height] = [600, 160];

/** Sends by day as bars, the cap as a line where it is near, and the same as a table. */
export function DayChart({ days, cap }: { days: readonly ChartDay[]; cap: number | null }) {
  const most = Math.max(1, ...days.map(({ sends }) => sends));
  // A cap far above every bar would press them flat.
  const line = cap !== null && cap <= most * 3 ? cap : null;
  const top = Math.max(most, line ?? 0);
  const step = width / Math.max(1, days.length);
  const y = (value: number) => height - (value / top) * height;
  return (
    <>
      <svg
        class="chart"
        viewBox={`0 0 ${width} ${height}`}
        role="img"
        aria-label={texts.usage.chart}
      >
        <title>{texts.usage.chart}</title>
        {days.map(({ day, sends }, n) => (
          <rect
            key={day}
            x={n * step + 2}
            y={y(sends)}
            width={Math.max(1, step - 4)}
            height={height - y(sends)}
            rx={2}
          />
        ))}
        {line !== null && <line x1={0} x2={width} y1={y(line)} y2={y(line)} />}
      </svg>
      <p class="quiet">{texts.usage.most(count(most))}</p>
      <details>
        <summary>{texts.usage.asTable}</summary>
        <table>
          <thead>
            <tr>
              <th scope="col">{texts.usage.day}</th>
              <th scope="col">{texts.usage.sends}</th>
              <th scope="col">{texts.usage.newContacts}</th>
            </tr>
          </thead>
          <tbody>
            {days.toReversed().map(({ day, sends, newContacts }) => (
              <tr key={day}>
                <td>{dayOf(`${day}T12:00:00Z`)}</td>
                <td>{count(sends)}</td>
                <td>{count(newContacts)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </details>
    </>
  );
}
