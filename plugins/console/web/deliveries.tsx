import { useRef, useState } from 'preact/hooks';
import type { components } from '../../../client/generated/schema.ts';
import { Choice, useTask } from './forms.tsx';
import { useList } from './loaded.ts';
import { readPages } from './pages.ts';
import type { Session } from './session.ts';
import { texts } from './texts.ts';
import { fullTime } from './times.ts';
import { Badge, Button, Empty, Problem, Shown, Time, type Tone } from './ui.tsx';

type Delivery = components['schemas']['WebhookDelivery'];

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
  const shown = useRef<readonly Delivery[]>([]);
  const loaded = useList(
    async (rounds) => {
      const filter = { ...(status !== '' && { status }), ...(event !== '' && { event }) };
      const { items, hasMore } = await readPages(
        (page) =>
          session.client.call('list_webhook_deliveries', {
            path: { webhookId: id },
            query: { ...page, ...filter },
          }),
        'deliveries',
        pageSize * rounds,
        readsAtMost * rounds,
      );
      const ids = items.map((one) => one.id);
      // One that is being read stays, however many come above it.
      const isKept = (one: string) => !ids.includes(one) && isOpen(one);
      shown.current = [...items, ...shown.current.filter((one) => isKept(one.id))];
      return { items: shown.current, hasMore };
    },
    [session, id, status, event],
    5_000,
  );
  const showReplay = (anew: Delivery) => {
    shown.current = shown.current.map((one) => (one.id === anew.id ? anew : one));
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
                  <Row session={session} id={id} delivery={delivery} onReplay={showReplay} />
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

/** Whether the row of a delivery is open. */
function isOpen(id: string): boolean {
  return document.querySelector(`#${id}[open]`) !== null;
}

function Row(props: {
  session: Session;
  id: string;
  delivery: Delivery;
  onReplay: (anew: Delivery) => void;
}) {
  const { session, id, delivery } = props;
  const task = useTask();
  const path = { webhookId: id, deliveryId: delivery.id };
  const replay = () =>
    task.run(async () => {
      props.onReplay((await session.client.call('replay_webhook_delivery', { path })).delivery);
    });
  return (
    <details id={delivery.id}>
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
