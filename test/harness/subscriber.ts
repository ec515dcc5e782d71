import type { Test } from 'tap';
import { eventTypes } from '../../core/contracts/events.ts';
import type { Executor } from '../../plugins/storage/executor.ts';
import type { Client } from './client.ts';
import type { Teardown } from './processes.ts';
import {
  header,
  judge,
  payloadOf,
  type Received,
  type Receiver,
  startReceiver,
} from './receiver.ts';
import { bodyOf, until } from './story.ts';

/** The receivers of a fault test: one takes everything at once, the other refuses every delivery's first attempt. */
export interface Subscriber {
  readonly receiver: Receiver;
  /** Of the subscription `steady`, which is signed. */
  readonly secret: string;
}

/** Subscribes two receivers to everything, `/steady` and `/first-refused`. */
export async function subscribe(t: Teardown, api: Client): Promise<Subscriber> {
  const receiver = await startReceiver(t, (received) =>
    received.path === '/first-refused' && header(received, 'x-webhook-attempt') === '1' ? 503 : 204,
  );
  const create = async (name: string) => {
    const made = await api.post('/webhooks', {
      name,
      url: receiver.url(`/${name}`),
      subscribed_to: eventTypes,
      retries_enabled: true,
      generate_signing_secret: name === 'steady',
    });
    if (made.status !== 201) throw new Error(`subscribe: ${JSON.stringify(made.body)}`);
    return bodyOf<{ signing_secret?: string }>(made).signing_secret ?? '';
  };
  const secret = await create('steady');
  await create('first-refused');
  return { receiver, secret };
}

/**
 * Waits until both receivers have taken every event that the database knows, and checks that nothing was lost or
 * changed its delivery id: of each event exactly one id at each receiver, the first attempts of one
 * message in order, every steady one signed.
 */
export async function checkDeliveries(
  t: Test,
  rows: Executor,
  { receiver, secret }: Subscriber,
  timeoutMs = 60_000,
): Promise<void> {
  const expected = async () =>
    (await rows.rows<{ payload: string }>('select payload from events')).map(({ payload }) =>
      eventKey(payload),
    );
  for (const path of ['/steady', '/first-refused']) {
    const taken = () => receiver.at(path).filter((one) => path === '/steady' || attemptOf(one) > 1);
    const complete = async () => {
      const [count] = await rows.rows<{ n: number }>('select count(*) as n from events');
      const ids = new Set(taken().map((one) => header(one, 'x-webhook-delivery')));
      if (ids.size < (count?.n ?? 0)) return undefined;
      const keys = new Set(taken().map(({ rawBody }) => eventKey(rawBody.toString('utf8'))));
      return (await expected()).every((key) => keys.has(key)) ? true : undefined;
    };
    await until(`every event at ${path}`, complete, timeoutMs).catch((error: Error) =>
      t.fail(error.message),
    );
    const wanted = (await expected()).sort();
    const ids = new Map<string, string>();
    const doubled: string[] = [];
    for (const one of receiver.at(path)) {
      const id = header(one, 'x-webhook-delivery');
      const key = eventKey(one.rawBody.toString('utf8'));
      if ((ids.get(id) ?? key) !== key) doubled.push(`${id} carried two events`);
      ids.set(id, key);
    }
    t.same([...ids.values()].sort(), wanted, `${path}: every event, each under one delivery id`);
    t.same(doubled, [], `${path}: each delivery id one event`);
  }
  const steady = receiver.at('/steady');
  t.same(outOfOrder(steady), [], 'the first attempts of one message are in order');
  const unsigned = steady.filter((one) => judge(one, secret, one.at / 1_000) !== 'genuine');
  t.equal(unsigned.length, 0, 'every delivery is signed');
  t.comment(
    `${steady.length} deliveries, ${receiver.received.length - steady.length} refused at first`,
  );
}

/** What tells two events apart: one message has each kind once; an account may have it again, at another time. */
function eventKey(payload: string): string {
  const { event, message, account_id, created_at } = JSON.parse(payload) as ReturnType<
    typeof payloadOf
  >;
  return message === undefined ? `${event} ${account_id} ${created_at}` : `${event} ${message.id}`;
}

function attemptOf(received: Received): number {
  return Number(header(received, 'x-webhook-attempt'));
}

const ranks: Readonly<Record<string, number>> = { sent: 1, delivered: 2, read: 3 };

/**
 * The messages of which an earlier event came, for the first time, after a later one. What came again is left out:
 * its first attempt was given up, by a process that hung for example, and may still arrive at any time.
 */
function outOfOrder(deliveries: readonly Received[]): readonly string[] {
  const again = new Set(
    deliveries.filter((one) => attemptOf(one) > 1).map((one) => header(one, 'x-webhook-delivery')),
  );
  const seen = new Set<string>();
  const reached = new Map<string, number>();
  const wrong: string[] = [];
  for (const one of deliveries) {
    const id = header(one, 'x-webhook-delivery');
    const { message } = payloadOf(one);
    if (message === undefined || seen.has(id) || again.has(id)) continue;
    seen.add(id);
    const rank = ranks[message.status] ?? 0;
    if (rank < (reached.get(message.id) ?? 0))
      wrong.push(`${message.id} ${message.status} at ${one.at}`);
    reached.set(message.id, rank);
  }
  return wrong;
}
