import { newId } from '../../core/ids.ts';
import { createLog } from '../../core/log.ts';
import { RabbitmqBroker } from '../../plugins/broker/rabbitmq.ts';
import type { EventRecord } from '../../plugins/events/contract.ts';
import { EventTable } from '../../plugins/events/tables/events.ts';
import { messageEvent } from '../../plugins/messages/events.ts';
import type { StoredMessage } from '../../plugins/messages/tables/message-rows.ts';
import { Executor } from '../../plugins/storage/executor.ts';
import { freePort } from '../harness/ports.ts';
import { startProcess } from '../harness/processes.ts';
import { checkArrived, keyOf, type Receivers, startReceivers } from './arrivals.ts';
import { type Bench, type BenchRun, inTurns } from './bench.ts';
import { clockNow } from './clock.ts';
import { type MeasuredGateway, startMeasured } from './measured-gateway.ts';
import { contactPhone } from './seed.ts';

/** The receivers of one kind of event, by their places among all. */
interface Audience {
  readonly status: 'delivered' | 'read';
  readonly from: number;
  readonly to: number;
}
const one: Audience = { status: 'read', from: 0, to: 1 };
const fifty: Audience = { status: 'delivered', from: 1, to: 51 };

/** Events that wait, until all receivers of webhooks have them, on MariaDB and RabbitMQ. */
export const deliveries: Bench = {
  name: 'deliveries',
  about:
    'Events in the outbox until all are at one webhook receiver, or at fifty. Floor: signed, posted and a row each.',
  async run(run) {
    const sides = await startSides(run);
    const goal = { atLeast: 0.9 };
    const toOne = await inTurns(run, ...sides.measure(one, run.count(2_500)));
    const toFifty = await inTurns(run, ...sides.measure(fifty, run.count(80)));
    return [
      toOne.figure('rate', { name: 'deliveries a second, one receiver', unit: '/s', goal }),
      toFifty.figure('rate', { name: 'deliveries a second, fifty receivers', unit: '/s', goal }),
    ];
  },
};

async function startSides(run: BenchRun) {
  const receivers = await startReceivers(run, fifty.to);
  const measured = await startMeasured(run, 'mariadb', {
    GATEWAY_WEBHOOKS__MAX_SUBSCRIPTIONS: String(fifty.to),
  });
  for (const audience of [one, fifty]) await subscribe(measured, receivers, audience);
  // The gateway is told as a process tells it that stores events and does not deliver.
  const broker = new RabbitmqBroker({ url: measured.amqpUrl ?? '', log: createLog('silent') });
  run.teardown(() => broker.close());
  const port = await freePort();
  const floorEnv = { DATABASE_URL: measured.databaseUrl, PORT: String(port) };
  await startProcess(run, ['test/bench/floors/deliveries.ts'], floorEnv).waitFor(/listening/);
  const gateway = async (audience: Audience, count: number) => {
    const { write, tenantId } = measured;
    const events = eventsOf(tenantId, audience, count);
    await store(write, events);
    const startedAt = clockNow();
    broker.toWorker('events', {});
    const rate = await arrived(receivers, audience, events, startedAt);
    await measured.settled();
    return { rate };
  };
  const order = async (method: string, body: string) => {
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(`http://127.0.0.1:${port}/`, { method, headers, body });
    if (!answer.ok) throw new Error(`the floor: ${await answer.text()}`);
  };
  const floor = async (audience: Audience, count: number) => {
    const events = eventsOf(measured.tenantId, audience, count);
    const urls = receivers.urls.slice(audience.from, audience.to);
    const payloads = events.map(({ payload }) => JSON.stringify(payload));
    await order('PUT', JSON.stringify({ urls, payloads }));
    const startedAt = clockNow();
    await order('POST', '{}');
    return { rate: await arrived(receivers, audience, events, startedAt) };
  };
  return {
    measure: (audience: Audience, count: number) =>
      [() => gateway(audience, count), () => floor(audience, count)] as const,
  };
}

async function subscribe(
  { gateway: { api } }: MeasuredGateway,
  { urls }: Receivers,
  { status, from, to }: Audience,
): Promise<void> {
  for (const url of urls.slice(from, to)) {
    const subscribed_to = [`message.${status}`];
    const wanted = { name: url, url, subscribed_to, generate_signing_secret: true };
    const made = await api.post('/webhooks', wanted);
    if (made.status !== 201) throw new Error(`subscribe: ${JSON.stringify(made.body)}`);
  }
}

/**
 * Puts all events into the outbox at once, past the gateway: at its front door nothing can be made to wait, and what
 * makes events is measured elsewhere.
 */
async function store(write: Executor, events: readonly EventRecord[]): Promise<void> {
  await write.knex.transaction((transaction) =>
    new EventTable(new Executor(transaction, write.dialect)).record(events),
  );
}

/** Waits until every receiver has every event, once; answers how many deliveries a second these were. */
async function arrived(
  receivers: Receivers,
  { from, to }: Audience,
  events: readonly EventRecord[],
  startedAt: number,
): Promise<number> {
  const wanted = events.flatMap(({ type, subject }) =>
    Array.from({ length: to - from }, (_, place) =>
      keyOf({ receiver: from + place, event: type, messageId: subject }),
    ),
  );
  const arrivals = await receivers.arrived(wanted.length);
  checkArrived(arrivals, wanted);
  const endedAt = arrivals.at(-1)?.at ?? Number.NaN;
  return (wanted.length / (endedAt - startedAt)) * 1000;
}

/** Events of as many messages, as the gateway would raise them now. */
function eventsOf(tenantId: string, { status }: Audience, count: number): readonly EventRecord[] {
  const at = Date.now();
  return Array.from({ length: count }, (_, n) => {
    const contact = { id: newId('con', at), phone: contactPhone(n), name: `Contact ${n}` };
    return messageEvent(messageOf(tenantId, contact.id, n, at), contact, status, at);
  });
}

function messageOf(tenantId: string, contactId: string, n: number, at: number): StoredMessage {
  return {
    id: newId('msg', at),
    tenantId,
    accountId: newId('acc', at),
    channel: 'msgapp_web',
    contactId,
    direction: 'outbound',
    text: `Your order ${n} is on its way.`,
    media: null,
    status: 'read',
    error: null,
    networkId: null,
    sequence: n,
    inboundSequence: null,
    opener: false,
    dispatchedAt: at,
    attempts: 1,
    dispatchFence: 1,
    trace: null,
    createdAt: at,
    sentAt: at,
    deliveredAt: at,
    readAt: at,
    failedAt: null,
  };
}
