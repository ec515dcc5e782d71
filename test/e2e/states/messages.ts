import type { Test } from 'tap';
import type { Fleet, FleetTenant } from '../../harness/fleet.ts';
import { mediaServer } from '../../harness/media-server.ts';
import {
  befall,
  messageOf,
  outbox,
  pair,
  phoneNumber,
  receive,
  type ShownMessage,
  sendAccepted,
  until,
  untilMessage,
} from '../../harness/story.ts';
import { recordedEvents } from '../recorded.ts';

type Status = 'queued' | 'sent' | 'delivered' | 'read' | 'failed';
type Receipt = Exclude<Status, 'queued'>;

const receipts: readonly Receipt[] = ['sent', 'delivered', 'read', 'failed'];

/** What each receipt makes of a message that got so far: its status then, and the event it raises. */
const moves: Readonly<Record<Status, Readonly<Record<Receipt, readonly [Status, ...Receipt[]]>>>> =
  {
    // The answer to the send is still missing: the receipt waits, and nothing is seen of it.
    queued: { sent: ['queued'], delivered: ['queued'], read: ['queued'], failed: ['queued'] },
    sent: {
      sent: ['sent'],
      delivered: ['delivered', 'delivered'],
      read: ['read', 'read'],
      failed: ['failed', 'failed'],
    },
    delivered: {
      sent: ['delivered'],
      delivered: ['delivered'],
      read: ['read', 'read'],
      failed: ['delivered'],
    },
    read: { sent: ['read'], delivered: ['read'], read: ['read'], failed: ['read'] },
    failed: { sent: ['failed'], delivered: ['failed'], read: ['failed'], failed: ['failed'] },
  };

/** The receipts that bring a sent message into a status, each raising its event. */
const way: Readonly<Record<Receipt, readonly Receipt[]>> = {
  sent: [],
  delivered: ['delivered'],
  read: ['delivered', 'read'],
  failed: ['failed'],
};

/** The times that are set, in the order of the statuses. */
function times(message: ShownMessage): readonly string[] {
  const { sent_at, delivered_at, read_at, failed_at } = message;
  return Object.entries({ sent_at, delivered_at, read_at, failed_at }).flatMap(([name, at]) =>
    at === null ? [] : [name],
  );
}

const timesOf: Readonly<Record<Status, readonly string[]>> = {
  queued: [],
  sent: ['sent_at'],
  delivered: ['sent_at', 'delivered_at'],
  read: ['sent_at', 'delivered_at', 'read_at'],
  failed: ['sent_at', 'failed_at'],
};

/** Checks a message and that its events are these, each once and with exactly the specified payload. */
async function settled(
  t: Test,
  fleet: Fleet,
  tenant: FleetTenant,
  id: string,
  status: Status,
  raised: readonly string[],
  what: string,
): Promise<void> {
  const message = await messageOf(tenant.api, id);
  const events = await recordedEvents(fleet.rows, tenant.id, id);
  t.strictSame(
    {
      status: message.status,
      times: times(message),
      events: events.map(({ type }) => type).sort(),
    },
    { status, times: timesOf[status], events: raised.map((one) => `message.${one}`).sort() },
    what,
  );
  t.equal(message.error === null, status !== 'failed', `${what}: the error is ${message.error}`);
  for (const { type, payload } of events) {
    t.strictSame({ ...payload, created_at: '' }, payloadOf(message, type), `${what}: ${type}`);
    t.match(payload.created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  }
}

/** The specification's payload of a message event. */
function payloadOf(message: ShownMessage, event: string) {
  const { id, direction, text, media, account_id, channel, contact } = message;
  const status = event.slice('message.'.length);
  const error = status === 'failed' ? message.error : null;
  return {
    ...{ event, created_at: '', account_id, channel, contact },
    message: { id, direction, text, media, status, error },
  };
}

function give(tenant: FleetTenant, phone: string, message_id: string, status: Receipt) {
  return tenant.api.post(`/sandbox/phones/${phone}/receipts`, { message_id, status });
}

async function everyReceipt(t: Test, fleet: Fleet, tenant: FleetTenant): Promise<void> {
  const phone = phoneNumber(1);
  const { api } = tenant;
  await pair(api, phone);
  await api.put(`/sandbox/phones/${phone}`, { send: 'sent' });
  const cells = (['sent', 'delivered', 'read', 'failed'] as const).flatMap((from) =>
    receipts.map((receipt) => ({ from, receipt })),
  );
  const ids: string[] = [];
  for (const n of [...cells.keys(), cells.length]) {
    ids.push(await sendAccepted(api, { to: { phone: phoneNumber(100 + n) }, text: `cell ${n}` }));
  }
  const marker = ids.at(-1) ?? '';
  for (const id of ids) await untilMessage(api, id, 'sent');
  for (const [n, { from, receipt }] of cells.entries()) {
    for (const one of [...way[from], receipt, receipt]) {
      t.equal((await give(tenant, phone, ids[n] ?? '', one)).status, 200);
    }
  }
  // One phone's receipts are taken in order: with this one all others have been.
  await give(tenant, phone, marker, 'read');
  await untilMessage(api, marker, 'read');
  await settled(t, fleet, tenant, marker, 'read', ['sent', 'read'], 'a skipped step has a time');
  for (const [n, { from, receipt }] of cells.entries()) {
    const [status, ...raised] = moves[from][receipt];
    const all = ['sent', ...way[from], ...raised];
    await settled(t, fleet, tenant, ids[n] ?? '', status, all, `${from}, then ${receipt} twice`);
  }
  const failed = await messageOf(api, ids[cells.findIndex(({ from }) => from === 'failed')] ?? '');
  t.match(failed.error, /^[a-z_]+: ./, 'a sentence that begins with its code');
}

/** The network has the message and its answer is missing: what the receipts say counts once it is there. */
async function beforeTheAnswer(t: Test, fleet: Fleet, tenant: FleetTenant): Promise<void> {
  const { api } = tenant;
  const then: Readonly<Record<Receipt, readonly [Status, ...Receipt[]]>> = {
    sent: ['sent', 'sent'],
    delivered: ['delivered', 'sent', 'delivered'],
    read: ['read', 'sent', 'read'],
    failed: ['failed', 'sent', 'failed'],
  };
  const started = await Promise.all(
    receipts.map(async (receipt, n) => {
      const phone = phoneNumber(10 + n);
      const account_id = await pair(api, phone);
      await api.put(`/sandbox/phones/${phone}`, { send: 'hang' });
      const id = await sendAccepted(api, { account_id, to: { phone: phoneNumber(100) } });
      await until('the network to have it', async () =>
        (await outbox(api, phone)).length === 1 ? true : undefined,
      );
      await give(tenant, phone, id, receipt);
      // An inbound message after the receipt shows that the session has gone on.
      await receive(api, phone, {
        from: { phone: phoneNumber(300 + n) },
        text: `after ${receipt}`,
      });
      const [status, ...raised] = moves.queued[receipt];
      await settled(t, fleet, tenant, id, status, raised, `queued, then ${receipt}`);
      return { receipt, phone, id };
    }),
  );
  for (const { receipt, phone, id } of started) {
    await befall(api, phone, { type: 'drop' });
    const [status, ...raised] = then[receipt];
    await untilMessage(api, id, status);
    await settled(t, fleet, tenant, id, status, raised, `${receipt} takes effect with the answer`);
    t.match(await outbox(api, phone), [{ attempts: 1 }], 'it was not sent again');
  }
}

async function withoutReceipts(t: Test, fleet: Fleet, tenant: FleetTenant): Promise<void> {
  const phone = phoneNumber(30);
  const { api } = tenant;
  const account_id = await pair(api, phone);
  const send = (n: number, more: object = {}) =>
    sendAccepted(api, { account_id, to: { phone: phoneNumber(100 + n) }, ...more });
  const behave = (settings: object) => api.put(`/sandbox/phones/${phone}`, settings);

  const media_url = `${(await mediaServer(t)).url}/map.png`;
  const read = await send(1, { media_url });
  await untilMessage(api, read, 'read');
  await settled(t, fleet, tenant, read, 'read', ['sent', 'delivered', 'read'], 'all the way');
  const media = { kind: 'image', url: media_url, mime_type: null, file_name: null, size: null };
  t.strictSame((await messageOf(api, read)).media, media);

  await behave({ send: 'deliver' });
  const delivered = await send(2);
  await untilMessage(api, delivered, 'delivered');
  await settled(t, fleet, tenant, delivered, 'delivered', ['sent', 'delivered'], 'and not read');

  await behave({ send: 'fail', fail_reason: 'not_on_network: nobody has this number' });
  const failed = await send(3);
  const { error, sent_at } = await untilMessage(api, failed, 'failed');
  t.strictSame([error, sent_at], ['not_on_network: nobody has this number', null]);
  t.strictSame(
    (await recordedEvents(fleet.rows, tenant.id, failed)).map(({ type }) => type),
    ['message.failed'],
    'queued, then refused',
  );

  await behave({ send: 'hang' });
  const hanging = await send(4);
  const behind = await send(4);
  await until('the network to have it', async () =>
    (await outbox(api, phone)).some(({ message_id }) => message_id === hanging) ? true : undefined,
  );
  await settled(t, fleet, tenant, hanging, 'queued', [], 'never acknowledged');
  await settled(t, fleet, tenant, behind, 'queued', [], 'the next one waits for it');
  await behave({ send: 'sent' });
  await befall(api, phone, { type: 'drop' });
  await untilMessage(api, behind, 'sent');
  await settled(t, fleet, tenant, hanging, 'sent', ['sent'], 'repeated after the drop');
  t.match(
    (await outbox(api, phone)).map(({ message_id, attempts }) => [message_id, attempts]),
    [[read], [delivered], [hanging, 2], [behind, 1]],
    'in order, and each once',
  );

  const inbound = { from: { phone: phoneNumber(101), name: 'Ada' }, text: 'hello back' };
  const received = await receive(api, phone, inbound);
  t.match(received, { direction: 'inbound', status: 'received', error: null, media: null });
  t.strictSame(times(received), []);
  t.strictSame(received.contact, { ...received.contact, phone: phoneNumber(101), name: 'Ada' });
  const [event, ...others] = await recordedEvents(fleet.rows, tenant.id, received.id);
  t.strictSame(others, []);
  t.strictSame({ ...event?.payload, created_at: '' }, payloadOf(received, 'message.received'));
}

/** Every status of a message and what brings it there. */
export async function messageStates(t: Test, fleet: Fleet): Promise<void> {
  const tenant = () => fleet.tenant('growth');
  await t.test('every receipt', async (t) => everyReceipt(t, fleet, await tenant()));
  await t.test('before the answer', async (t) => beforeTheAnswer(t, fleet, await tenant()));
  await t.test('without receipts', async (t) => withoutReceipts(t, fleet, await tenant()));
}
