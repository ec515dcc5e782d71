import { useMemo, useState } from 'preact/hooks';
import type { components } from '../../../client/generated/schema.ts';
import { Choice, useTask } from './forms.tsx';
import { useList } from './loaded.ts';
import { readPages } from './pages.ts';
import type { Session } from './session.ts';
import { texts } from './texts.ts';
import { fullTime } from './times.ts';
import { Badge, Button, Empty, Problem, Shown, Time, type Tone } from './ui.tsx';

type Delivery = components['schemas']['WebhookDelivery'];
type Log = { readonly items: readonly Delivery[]; readonly hasMore: boolean };

const statuses = ['', 'waiting', 'delivered', 'failed', 'suppressed'] as const;
const tones: Readonly<Record<Delivery['status'], Tone>> = {
  ...{ waiting: 'wait', delivered: 'good', failed: 'bad', suppressed: 'plain' },
};
/** How many a person sees more of at once, and how many reads that may take. */
const pageSize = 20;
const readsAtMost = 5;

/** The log of an address: what was delivered, each attempt with its answer, and a replay. */
export function Deliveries(props: { session: Session; id: string; events: readonly string[] }) {
  const { session, id } = props;
  const [status, setStatus] = useState<(typeof statuses)[number]>('');
  const [event, setEvent] = useState<'' | Delivery['event']>('');
  /** What is listed, and of it what is open. */
  const { filter, opened } = useMemo(() => {
    const filter = { ...(status !== '' && { status }), ...(event !== '' && { event }) };
    return { filter, opened: new Set<string>() };
  }, [status, event]);
  const path = { webhookId: id };
  const loaded = useList(
    async (rounds: number): Promise<Log> => {
      const readOf = (what: typeof filter) => (page: object) =>
        session.client.call('list_webhook_deliveries', { path, query: { ...page, ...what } });
      const [size, reads] = [pageSize * rounds, readsAtMost * rounds];
      const { items, hasMore } = await readPages(readOf(filter), 'deliveries', size, reads);
      // One that is being read stays, however many come above it, and whatever becomes of it.
      const kept = (loaded.value?.items ?? []).filter(
        (one) => opened.has(one.id) && !isAmong(items, one),
      );
      if (kept.length === 0) return { items, hasMore };
      const { items: all } = await readPages(
        readOf({}),
        'deliveries',
        Number.POSITIVE_INFINITY,
        readsAtMost,
        (some) => kept.every((one) => isAmong(some, one)),
      );
      const anew = kept.map((one) => all.find(({ id }) => id === one.id) ?? one);
      return { items: [...items, ...anew], hasMore };
    },
    [session, id, filter],
    5_000,
  );
  const showReplay = (anew: Delivery) => {
    loaded.replace(({ items, hasMore }) => ({
      items: items.map((one) => (one.id === anew.id ? anew : one)),
      hasMore,
    }));
    // A read under way was dropped for it.
    loaded.reload();
  };
  const events = props.events as readonly Delivery['event'][];
  return (
    <section class="card">
      <h2>{texts.webhooks.log}</h2>
      <div class="fields">
        <Choice
          label={texts.messages.status}
          value={status}
          options={statuses.map((one) => [one, texts.webhooks.statuses[one || 'any']])}
          onChange={setStatus}
        />
        <Choice
          label={texts.webhooks.event}
          value={event}
          options={[['', texts.webhooks.statuses.any], ...events.map((one) => [one, one] as const)]}
          onChange={setEvent}
        />
      </div>
      <Shown loaded={loaded}>
        {({ items, hasMore }) => (
          <>
            {items.length === 0 && (
              <Empty>{hasMore ? texts.webhooks.nothingYet : texts.webhooks.nothingSent}</Empty>
            )}
            <ul class="rows">
              {items.map((delivery) => (
                <li key={delivery.id}>
                  <Row
                    session={session}
                    id={id}
                    delivery={delivery}
                    opened={opened}
                    onReplay={showReplay}
                  />
                </li>
              ))}
            </ul>
            {hasMore && <Button onClick={loaded.showMore}>{texts.more}</Button>}
          </>
        )}
      </Shown>
    </section>
  );
}

function isAmong(some: readonly Delivery[], { id }: Delivery): boolean {
  return some.some((one) => one.id === id);
}

function Row(props: {
  session: Session;
  id: string;
  delivery: Delivery;
  opened: Set<string>;
  onReplay: (anew: Delivery) => void;
}) {
  const { session, id, delivery, opened } = props;
  const task = useTask();
  const path = { webhookId: id, deliveryId: delivery.id };
  const replay = () =>
    task.run(async () => {
      props.onReplay((await session.client.call('replay_webhook_delivery', { path })).delivery);
    });
  return (
    <details
      onToggle={({ currentTarget }) =>
        currentTarget.open ? opened.add(delivery.id) : opened.delete(delivery.id)
      }
    >
      <summary>
        <span class="row">
          <Time at={delivery.created_at} />
          <span>{delivery.event}</span>
          <Badge tone={tones[delivery.status]}>{texts.webhooks.statuses[delivery.status]}</Badge>
          <span class="quiet">{texts.webhooks.attempts(delivery.attempt_count)}</span>
          {delivery.test && <span class="quiet">{texts.webhooks.isTest}</span>}
        </span>
      </summary>
      <p class="quiet">
        <code>{delivery.id}</code>
        {delivery.next_attempt_at !== null &&
          ` · ${texts.webhooks.nextAttempt(fullTime(delivery.next_attempt_at))}`}
      </p>
      <ol class="timeline">
        {delivery.attempts.map(({ attempt, at, duration_ms, status_code, answer, failure }) => (
          <li key={`${attempt} ${at}`}>
            {fullTime(at)} · {status_code !== null && texts.webhooks.answered(status_code)}{' '}
            {texts.webhooks.took(duration_ms)} {failure?.message}
            {answer !== '' && (
              // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
              <pre tabIndex={0}>{answer}</pre>
            )}
          </li>
        ))}
      </ol>
      {delivery.payload !== null && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
        <pre tabIndex={0}>{JSON.stringify(delivery.payload, null, 2)}</pre>
      )}
      <Problem error={task.error} />
      {delivery.status !== 'waiting' && !delivery.test && (
        <Button onClick={replay} isBusy={task.isBusy}>
          {texts.webhooks.replay}
        </Button>
      )}
    </details>
  );
}
