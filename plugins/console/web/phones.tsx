import { useState } from 'preact/hooks';
import type { PageProps } from './app.tsx';
import { useTask } from './forms.tsx';
import { useLoaded } from './loaded.ts';
import { PhoneCard } from './phone-card.tsx';
import { texts } from './texts.ts';
import { Button, Empty, Page, Problem, Shown } from './ui.tsx';

const everyMs = 5_000;

/** The simulated phones of a test key: what their owners see and do. */
export function Phones({ session }: PageProps) {
  const loaded = useLoaded(
    async () => (await session.client.call('list_simulated_phones')).phones,
    [session],
    everyMs,
  );
  return (
    <Page title={texts.menu.phones}>
      <Shown loaded={loaded}>
        {(phones) =>
          phones.length === 0 ? (
            <Empty>{texts.phones.empty}</Empty>
          ) : (
            <ul class="cards">
              {phones.map((phone) => (
                <PhoneCard
                  key={`${phone.channel} ${phone.phone_number}`}
                  session={session}
                  phone={phone}
                  onChange={loaded.reload}
                />
              ))}
            </ul>
          )
        }
      </Shown>
      <Network session={session} />
    </Page>
  );
}

/** Puts the whole simulated network out of reach, or back. */
function Network({ session }: Pick<PageProps, 'session'>) {
  const task = useTask();
  const [said, say] = useState('');
  const reach = (reachable: boolean) =>
    task.run(
      () => session.client.call('put_simulated_network', { body: { reachable } }),
      () => say(reachable ? texts.phones.reachable : texts.phones.unreachable),
    );
  return (
    <section class="card">
      <h2>{texts.phones.network}</h2>
      <div class="actions">
        <Button onClick={() => reach(false)} isBusy={task.isBusy}>
          {texts.phones.cut}
        </Button>
        <Button onClick={() => reach(true)} isBusy={task.isBusy}>
          {texts.phones.mend}
        </Button>
      </div>
      <p class="quiet" role="status">
        {said}
      </p>
      <Problem error={task.error} />
    </section>
  );
}
