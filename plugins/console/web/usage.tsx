import { useState } from 'preact/hooks';
import type { PageProps } from './app.tsx';
import { useLoaded } from './loaded.ts';
import { texts } from './texts.ts';
import { count } from './times.ts';
import { Bar, Choice, Empty, Page, Shown } from './ui.tsx';
import { DayChart } from './usage-chart.tsx';

/** What was sent today against the caps, the last 30 days by account, and refusals by code. */
export function Usage({ session }: PageProps) {
  const [accountId, setAccountId] = useState('');
  const loaded = useLoaded(async () => {
    const [today, { days }, { accounts }] = await Promise.all([
      session.client.call('get_usage'),
      session.client.call('list_usage_days'),
      session.client.call('list_accounts'),
    ]);
    return { today, days, accounts };
  }, [session]);
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
                <Bar
                  value={today.sends}
                  of={today.sends_cap}
                  text={texts.accounts.sends(count(today.sends), count(today.sends_cap))}
                />
                <Bar
                  value={today.new_contacts}
                  of={today.new_contacts_cap}
                  text={texts.accounts.newContacts(
                    count(today.new_contacts),
                    count(today.new_contacts_cap),
                  )}
                />
                <Bar
                  value={today.accounts_total}
                  of={today.accounts_cap}
                  text={texts.usage.accounts(today.accounts_connected, today.accounts_cap)}
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
