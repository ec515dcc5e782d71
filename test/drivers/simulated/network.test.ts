import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { DriverError } from '../../../core/contracts/driver.ts';
import { carriedOut } from '../../../drivers/simulated/control.ts';
import { networkFolder } from '../../../drivers/simulated/network/running.ts';
import { scaled } from '../../harness/scale.ts';
import { phoneNumber, until } from '../../harness/story.ts';
import { linkPhone, openPhone, sendText } from './linked-phone.ts';
import { runNetwork } from './running-network.ts';

const network = await runNetwork(t);
const { control } = network;
const way = network.way();
const contact = phoneNumber(9000);
let phones = 0;

function newPhone(channel = 'msgapp_web') {
  phones += 1;
  return { network: 'ten_a', channel, phone: phoneNumber(phones) };
}

t.test('a network that is forgotten leaves no trace, and no other network loses one', async (t) => {
  const own = await runNetwork(t);
  const [gone, kept] = ['ten_gone', 'ten_kept'].map((name) => ({ ...newPhone(), network: name }));
  const write = async (phone = newPhone(), text = '') => {
    await own.control.put(phone, {});
    const from = { phone: contact, name: `name of ${text}` };
    await own.control.inbound(phone, { from, text, media_url: null, network_id: null });
  };
  await write(gone, 'words of the erased');
  await write(kept, 'words of its neighbour');
  await own.control.setReachable('ten_gone', false);
  await own.control.forget('ten_gone');
  await own.control.forget('ten_gone');
  t.same(await own.control.networks(), ['ten_kept']);
  const folder = networkFolder(own.dataDir);
  const files = readdirSync(folder).map((name) => readFileSync(join(folder, name)));
  t.notOk(
    files.some((bytes) => bytes.includes('words of the erased')),
    'nor in the log beside the file',
  );
  t.ok(files.some((bytes) => bytes.includes('words of its neighbour')));
});

t.test('what was accepted survives a SIGKILL, once and in order', async (t) => {
  const phone = await linkPhone(way, control, newPhone());
  const { address, port, session } = phone;
  const count = scaled(4000);
  const killAt = new Set([Math.floor(count / 3), Math.floor((count * 2) / 3)]);
  let killed: Promise<void> | undefined;
  for (let number = 0; number < count; number += 1) {
    // Killed without waiting, so that it happens in the middle of sends.
    if (killAt.has(number)) killed = network.killAndRestart();
    for (;;) {
      try {
        await sendText(phone, `msg_${number}`, contact);
        break;
      } catch (error) {
        if (!(error instanceof DriverError)) throw error;
        await killed;
        await session.resume();
        await port.state('connected');
      }
    }
  }
  const outbox = carriedOut(await control.outbox(address));
  const expected = Array.from({ length: count }, (_, number) => `msg_${number}`);
  t.same(
    outbox.map(({ message_id }) => message_id),
    expected,
  );
  await until('every message to be read', async () => {
    const read = port.events.flatMap((event) =>
      event.type === 'receipt' && event.status === 'read' ? [event.reference] : [],
    );
    return new Set(read).size === count ? true : undefined;
  });
  const again = await sendText(phone, 'msg_0', contact);
  t.equal(again.networkId, outbox[0]?.network_id);
  t.equal(
    carriedOut(await control.outbox(address))[0]?.attempts,
    (outbox[0]?.attempts ?? 0) + 1,
    'a repeat is counted, not shown',
  );
  session.close();
});

t.test('what waits for a phone survives too, until it is linked', async (t) => {
  const address = newPhone();
  const written = (network_id: string | null) =>
    control.inbound(address, {
      from: { phone: contact, name: 'Ada' },
      text: 'kept',
      media_url: 'https://example.com/a/song.mp3',
      network_id,
    });
  const { network_id } = await written(null);
  t.equal((await written(network_id)).network_id, network_id);
  await control.setReachable('ten_gone', false);
  await network.killAndRestart();
  t.match(carriedOut(await control.phone(address)), { state: 'idle', qr: null });
  const { port, session } = await linkPhone(way, control, address);
  t.match(await port.message(), {
    networkId: network_id,
    from: { phone: contact, name: 'Ada' },
    media: { kind: 'audio', fileName: 'song.mp3' },
  });
  session.close();
  const gone = openPhone(way, { ...newPhone(), network: 'ten_gone' });
  await gone.session.resume();
  await gone.port.state('logged_out');
  await gone.session.link({ method: 'qr', importContacts: false, importHistory: false });
  await gone.port.state('lost');
  gone.session.close();
});

t.test('a phone treats what it sends as it was told', async (t) => {
  const phone = await linkPhone(way, control, newPhone());
  const { address, port, session } = phone;
  const statuses = async (reference: string, count: number) => {
    await sendText(phone, reference, contact);
    const receipts = [];
    while (receipts.length < count) {
      const receipt = await port.receipt();
      t.equal(receipt.reference, reference);
      receipts.push(receipt.status);
    }
    return receipts;
  };
  t.same(await statuses('msg_read', 2), ['delivered', 'read']);
  await control.put(address, { send: 'deliver' });
  t.same(await statuses('msg_deliver', 1), ['delivered']);
  await control.put(address, { send: 'sent', latency_ms: 120 });
  const startedAt = performance.now();
  t.same(await statuses('msg_sent', 0), []);
  t.ok(performance.now() - startedAt > 110, 'the answer takes its time');
  await control.put(address, { latency_ms: 0, send: 'fail' });
  for (const [fail_reason, code, message] of [
    [null, 'refused_by_network', 'the network refused the message'],
    ['spam', 'spam', 'the network refused the message'],
    ['spam: too many links', 'spam', 'too many links'],
    ['Too many links', 'refused_by_network', 'Too many links'],
  ] as const) {
    await control.put(address, { fail_reason });
    const refused = sendText(phone, 'msg_fail', contact);
    await t.rejects(refused, { code, message, certain: true, retryAfterMs: null });
  }
  t.match(await control.receipt(address, 'msg_fail', 'read'), { refused: 'unknown_message' });
  carriedOut(await control.receipt(address, 'msg_sent', 'failed'));
  t.match(await port.receipt(), { reference: 'msg_sent', status: 'failed', error: /links/ });
  await control.put(address, { send: 'hang' });
  const hanging = sendText(phone, 'msg_hang', contact);
  await until('it to reach the phone', async () =>
    carriedOut(await control.outbox(address)).some((one) => one.message_id === 'msg_hang')
      ? true
      : undefined,
  );
  carriedOut(await control.receipt(address, 'msg_hang', 'delivered'));
  t.match(await port.receipt(), { reference: 'msg_hang', status: 'delivered' });
  session.close();
  t.match(await hanging.catch((error: unknown) => error), { certain: false });
  t.match(
    carriedOut(await control.outbox(address)).map(({ message_id }) => message_id),
    ['msg_read', 'msg_deliver', 'msg_sent', 'msg_hang'],
  );
});

t.test('restrictions and drops end by themselves', async (t) => {
  const phone = await linkPhone(way, control, newPhone());
  const { address, port, session } = phone;
  const lasts = { scope: 'all', for_ms: 5_000 } as const;
  const begunAt = Date.now();
  await control.event(address, { type: 'restrict', ...lasts });
  const { until: end } = await port.state('restricted');
  t.ok((end ?? 0) >= begunAt + lasts.for_ms && (end ?? 0) <= Date.now() + lasts.for_ms);
  await t.rejects(sendText(phone, 'msg_1', contact), { code: 'blocked_by_msgapp', certain: true });
  await port.state('unrestricted');
  await sendText(phone, 'msg_1', contact);
  await control.event(address, { type: 'drop', ...lasts });
  await port.state('lost');
  await session.resume();
  await port.state('lost');
  await sleep(lasts.for_ms + 100);
  await session.resume();
  await port.state('connected');
  session.close();
});

t.test('a drop cuts a connection in its handshake', async (t) => {
  const address = newPhone();
  await control.put(address, {});
  const lines = await way.connect({ role: 'session', ...address }, AbortSignal.timeout(20_000));
  const cut = new Promise<boolean>((resolve) => {
    lines.onClose = () => resolve(true);
  });
  await control.event(address, { type: 'drop', scope: 'all', for_ms: 60_000 });
  t.ok(await Promise.race([cut, sleep(10_000, false)]));
});

t.test('a drop outlives the network, and the next one sets its end anew', async () => {
  const { address, port, session } = await linkPhone(way, control, newPhone());
  await control.event(address, { type: 'drop', scope: 'all', for_ms: 3_600_000 });
  await port.state('lost');
  await network.killAndRestart();
  await session.resume();
  await port.state('lost');
  await control.event(address, { type: 'drop', scope: 'all', for_ms: null });
  await session.resume();
  await port.state('connected');
  session.close();
});

t.test('a session that is opened twice belongs to the later one', async (t) => {
  const { address, port, session } = await linkPhone(way, control, newPhone());
  const later = openPhone(way, address, port.credentials);
  await later.session.resume();
  await later.port.state('connected');
  t.match(await port.state('logged_out'), { reason: 'replaced' });
  await sendText(later, 'msg_later', contact);
  session.close();
  later.session.close();
});

t.test('what could not be kept is offered again on the same connection', async (t) => {
  const { address, port, session } = await linkPhone(way, control, newPhone());
  let refusals = 3;
  port.onEmit = async ({ type }) => {
    if (type !== 'message') return;
    refusals -= 1;
    if (refusals >= 0) throw new Error('the database is away');
  };
  const message = { from: { phone: contact, name: null }, media_url: null, network_id: null };
  await control.inbound(address, { ...message, text: 'one' });
  await control.inbound(address, { ...message, text: 'two' });
  await until('all to be kept', async () => (refusals < -1 ? true : undefined));
  await sleep(500);
  t.equal(refusals, -2, 'and not once more');
  session.close();
});

for (const [channel, networkId, to] of [
  ['msgapp_web', 'hidden-1', 'hidden-1'],
  ['chatapp', 'hidden-1', 'hidden-1'],
  ['chatapp', 'u4711', '+4711'],
] as const) {
  t.test(`who hides the phone can be answered, ${channel}, ${networkId}`, async (t) => {
    const address = newPhone(channel);
    const phone = await linkPhone(way, control, address);
    const unknown = { code: 'unknown_recipient', certain: true };
    await t.rejects(sendText(phone, 'msg_1', { networkId }), unknown);
    const message = { text: 'Who is it?', media_url: null, network_id: null };
    const from = { phone: null, network_id: networkId, name: null };
    await control.inbound(address, { ...message, from });
    t.match(await phone.port.message(), { from: { phone: null, networkId } });
    await sendText(phone, 'msg_2', { networkId });
    t.match(carriedOut(await control.outbox(address)), [{ message_id: 'msg_2', to }]);
    phone.session.close();
  });
}

t.test('chatapp knows its contacts', async (t) => {
  const address = newPhone('chatapp');
  await control.put(address, {
    contacts: [{ phone: contact, name: 'Ada' }],
    history: Array.from({ length: 450 }, (_, n) => ({
      from: phoneNumber(9002),
      text: `${n}`,
      at: n,
    })),
  });
  const phone = await linkPhone(way, control, address, { importHistory: true });
  const { port, session } = phone;
  const contacts = () => port.next('contacts', (event) => event.type === 'contacts');
  const book = { contacts: [{ phone: contact, networkId: String, name: 'Ada' }], later: false };
  t.match(await contacts(), book);
  const ids = new Set<string>();
  while (ids.size < 450) {
    const { messages } = await port.next('history', (event) => event.type === 'history');
    for (const { networkId } of messages) ids.add(networkId);
  }
  await sendText(phone, 'msg_known', contact);
  await sendText(phone, 'msg_from_history', phoneNumber(9002));
  const stranger = phoneNumber(9003);
  await t.rejects(sendText(phone, 'msg_x', stranger), { code: 'unknown_recipient', certain: true });
  await control.put(address, { contacts: [{ phone: stranger, name: 'Ben' }] });
  t.match(await contacts(), { contacts: [{ phone: stranger, name: 'Ben' }], later: true });
  await sendText(phone, 'msg_x', stranger);
  const { phone: number } = address;
  t.same(await control.channels('ten_a', number), ['chatapp']);
  t.same(await control.channels('ten_b', number), [], 'each network has phones of its own');
  await control.put({ ...address, channel: 'msgapp_web' }, {});
  t.same(await control.channels('ten_a', number), ['chatapp', 'msgapp_web']);
  session.close();
});

t.test('QR codes are renewed by the clock', async (t) => {
  const quick = await runNetwork(t, { qrLifetimesMs: [5_000, 1_000] });
  const address = newPhone();
  const { port, session } = openPhone(quick.way(), address);
  const startedAt = Date.now();
  await session.link({ method: 'qr', importContacts: false, importHistory: false });
  const first = await port.step('show_qr');
  t.ok(first.expiresAt - startedAt >= 5_000);
  t.equal(carriedOut(await quick.control.phone(address)).qr, first.data);
  const second = await port.step('show_qr');
  t.not(second.data, first.data);
  await port.step('expired');
  t.ok(Date.now() - startedAt >= 5_900);
  t.match(await quick.control.scan(address), { refused: 'nothing_to_scan' });
  t.match(carriedOut(await quick.control.phone(address)), { state: 'idle', qr: null });
  session.close();
});

t.test('many sessions in one process', async (t) => {
  const count = scaled(1000);
  const addresses = Array.from({ length: count }, (_, n) => ({
    network: 'ten_many',
    channel: 'msgapp_web',
    phone: phoneNumber(5000 + n),
  }));
  const linked = await Promise.all(addresses.map((address) => linkPhone(way, control, address)));
  await Promise.all(linked.map((phone) => sendText(phone, 'msg_1', contact)));
  await Promise.all(linked.map(({ port }) => port.receipt()));
  await network.killAndRestart();
  await Promise.all(linked.map(({ port }) => port.state('lost')));
  await Promise.all(linked.map(({ session }) => session.resume()));
  await Promise.all(linked.map(({ port }) => port.state('connected')));
  for (const { session } of linked) session.close();
  t.pass(`${count} sessions came back`);
});
