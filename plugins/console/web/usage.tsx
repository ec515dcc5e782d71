import { useState } from 'preact/hooks';
import type { PageProps } from './app.tsx';
import { Choice } from './forms.tsx';
import { listedAccounts, useLoaded } from './loaded.ts';
import { texts } from './texts.ts';
import { count, utcDay } from './times.ts';
import { Bar, Empty, LimitBars, Page, Shown } from './ui.tsx';

const everyMs = 10_000;

/** What was sent today against the caps, the last 30 days by account, and refusals by code. */
export function Usage({ session }: PageProps) {
  const [accountId, setAccountId] = useState('');
  const loaded = useLoaded(
    async () => {
      const [today, { days }, accounts] = await Promise.all([
        session.client.call('get_usage'),
        session.client.call('list_usage_days'),
        listedAccounts(session),
      ]);
      return { today, days, accounts };
    },
    [session],
    everyMs,
  );
  return (
    <Page title={texts.menu.usage}>
      <Shown loaded={loaded}>
        {({ today, days, accounts }) => {
          const of = (day: (typeof days)[number]) =>
            accountId === '' ? day : day.accounts.find((one) => one.account_id === accountId);
          const drawn = days
            .map((day) => ({
              day: day.day,
              sends: of(day)?.sends ?? 0,
              newContacts: of(day)?.new_contacts ?? 0,
            }))
            .toSorted((one, other) => (one.day < other.day ? -1 : 1));
          return (
            <div class="list">
              <section class="card">
                <h2>{texts.usage.today}</h2>
                <LimitBars limits={today} />
                <Bar
                  value={today.accounts_total}
                  of={today.accounts_cap}
                  text={texts.usage.accounts(
                    today.accounts_connected,
                    today.accounts_total,
                    today.accounts_cap,
                  )}
                />
                <p class="quiet">{texts.usage.resets}</p>
              </section>
              <section class="card">
                <h2>{texts.usage.month}</h2>
                <Choice
                  label={texts.usage.account}
                  value={accountId}
                  options={[
                    ['', texts.usage.allAccounts],
                    ...accounts.map((one) => [one.id, one.identifier] as const),
                  ]}
                  onChange={setAccountId}
                />
                <DayChart days={drawn} cap={accountId === '' ? today.sends_cap : null} />
              </section>
              <Refusals days={days} />
            </div>
          );
        }}
      </Shown>
    </Page>
  );
}

/** Refused sends of the last 30 days by code, the most frequent first. */
function Refusals(props: {
  days: readonly {
    readonly refusals: readonly { readonly code: string; readonly count: number }[];
  }[];
}) {
  const counts = new Map<string, number>();
  for (const { code, count } of props.days.flatMap(({ refusals }) => refusals)) {
    counts.set(code, (counts.get(code) ?? 0) + count);
  }
  const rows = [...counts].sort(([, one], [, other]) => other - one);
  return (
    <section class="card">
      <h2>{texts.usage.refusals}</h2>
      {rows.length === 0 ? (
        <Empty>{texts.usage.noRefusals}</Empty>
      ) : (
        rows.map(([code, number]) => (
          <Bar
            key={code}
            value={number}
            of={rows[0]?.[1] ?? 1}
            text={`${code}: ${count(number)}`}
          />
        ))
      )}
    </section>
  );
}

/** One day of the chart. */
interface ChartDay {
  readonly day: string;
  readonly sends: number;
  readonly newContacts: number;
}

const [width, height] = [600, 160];

/** Sends by day as bars, the cap as a line where it is near, and the same as a table. */
function DayChart({ days, cap }: { days: readonly ChartDay[]; cap: number | null }) {
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
                <td>{utcDay(day)}</td>
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
