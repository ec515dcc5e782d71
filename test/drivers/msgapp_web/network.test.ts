import { EventEmitter, once } from 'node:events';
import { readdirSync, readlinkSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { DriverError, type MediaFile } from '../../../core/contracts/driver.ts';
import { parseProxyUrl } from '../../../plugins/accounts/proxy-url.ts';
import { Bench, type Opened } from '../../../testing/contract/driver/bench.ts';
import { LogLines } from '../../../testing/contract/driver/log-lines.ts';
import { startHttpProxy } from '../../harness/proxy-servers.ts';
import { phoneNumber, until } from '../../harness/story.ts';
import { doneWithin } from '../../harness/times.ts';
import { FakeNetwork } from '../../networks/msgapp_web/network.ts';
import { hastyDriver, runNetwork } from './running-network.ts';
import { msgappWebWorld, picture } from './world.ts';

const printed: string[] = [];
for (const stream of [process.stdout, process.stderr]) {
  const write = stream.write.bind(stream);
  stream.write = (chunk: string | Uint8Array, ...rest: never[]) => {
    printed.push(chunk.toString());
    return write(chunk, ...rest);
  };
}

const { network, options } = await runNetwork(t);
const log = new LogLines();
const bench = new Bench(hastyDriver(options), msgappWebWorld(network), log);
const opened: Opened[] = [];
t.teardown(async () => bench.closeAll());

async function linked(): Promise<Opened & { readonly phone: string }> {
  const one = await bench.linked();
  opened.push(one);
  return { ...one, phone: one.account.identifier };
}

function textTo(phone: string | null, reference: string, networkId: string | null = null) {
  const to = { phone, networkId };
  return { reference, attempt: 1, to, text: `text of ${reference}`, media: null };
}

async function failureOf(send: Promise<unknown>): Promise<DriverError> {
  const error = await send.then(
    () => null,
    (error: unknown) => error,
  );
  if (error instanceof DriverError) return error;
  throw new Error('the send did not fail as a driver does', { cause: error });
}

const number = (phone: string) => ({ phone, networkId: null });
const patient = () => AbortSignal.timeout(15_000);
const ada = phoneNumber(9001);

t.test('a server with an untrusted root is refused', async (t) => {
  const stranger = await FakeNetwork.start();
  t.teardown(() => stranger.stop());
  const driver = hastyDriver({ ...options, websocket_url: stranger.url });
  const elsewhere = new Bench(driver, msgappWebWorld(stranger), log);
  t.teardown(async () => elsewhere.closeAll());
  const { port, session } = await elsewhere.open();
  await session.link({ method: 'qr', importContacts: false, importHistory: false });
  t.match(await port.state('refused'), { reason: 'misconfigured', detail: /trusted root/ });
  t.equal(port.events.length, 1);
  const away = await elsewhere.reopened(await linked());
  await away.session.resume();
  t.match(await away.port.state('lost'), { reason: 'misconfigured', detail: /trusted root/ });
  t.equal(away.port.events.length, 1);
});

t.test('a second root in one process is refused', async (t) => {
  const other = hastyDriver({
    ...options,
    root_public_key: Buffer.alloc(32, 1).toString('base64'),
  });
  const { port, session } = await new Bench(other, msgappWebWorld(network), log).open();
  await session.link({ method: 'qr', importContacts: false, importHistory: false });
  t.match(await port.state('lost'), { reason: 'misconfigured', detail: /already trusted/ });
});

t.test('close codes of a live connection', async (t) => {
  let next: Opened | null = null;
  for (const [code, as, expected] of [
    ['428', 'stream', { state: 'lost', reason: 'network_unreachable' }],
    ['503', 'stream', { state: 'lost', detail: /not available/ }],
    ['500', 'failure', { state: 'lost', reason: 'network_unreachable' }],
    ['405', 'failure', { state: 'lost', reason: 'version_refused', detail: /web_version/ }],
    ['429', 'failure', { state: 'lost', reason: 'rate_limited' }],
    ['401', 'failure', { state: 'logged_out', reason: 'logged_out' }],
    ['411', 'failure', { state: 'logged_out', reason: 'logged_out' }],
    ['402', 'failure', { state: 'restricted', scope: 'all', reason: 'blocked_by_msgapp' }],
  ] as const) {
    const one: Opened = next ?? (await linked());
    const { account, port } = one;
    const before = port.events.length;
    await network.close(account.identifier, code, as);
    await until(`the end with ${code}`, async () => port.events[before]);
    t.match(port.events[before], expected, code);
    next = expected.state === 'lost' ? await bench.resumed(one) : null;
  }
});

t.test('the phone of another number scans: the network has no device of it left', async (t) => {
  const { account, port, session } = await bench.open();
  const stranger = phoneNumber(299);
  await network.write(stranger, { from: ada, name: 'Ada', text: 'for somebody else' });
  await session.link({ method: 'qr', importContacts: true, importHistory: true });
  await network.scan(stranger, (await port.step('show_qr')).data);
  const { reason, detail } = await port.state('refused');
  t.equal(reason, 'wrong_phone');
  t.match(detail, /ends in 0299.*unlinked again/);
  t.equal(await network.waiting(stranger), null, 'it is unlinked');
  t.same(
    port.events.filter(({ type }) => type !== 'step').map(({ type }) => type),
    ['state'],
  );
  t.equal(port.credentials.values.size, 0);
  await bench.link({ account, port, session }, 'pairing_code');
});

t.test('a stranger who is cut off in place of an answer is known to be unlinked', async (t) => {
  const { port, session } = await bench.open();
  const stranger = phoneNumber(297);
  await network.cutLeavers(stranger);
  await session.link({ method: 'qr', importContacts: false, importHistory: false });
  await network.scan(stranger, (await port.step('show_qr')).data);
  t.match(await port.state('refused'), { reason: 'wrong_phone', detail: /was unlinked again/ });
  t.equal(await network.waiting(stranger), null);
});

t.test('a network that does not say at once whose number was linked is asked again', async (t) => {
  const { account, port, session } = await bench.open();
  const real = phoneNumber(296);
  await network.renumber(account.identifier, real);
  await network.refuseLookUps(real, 2);
  await session.link({ method: 'qr', importContacts: false, importHistory: false });
  await network.scan(real, (await port.step('show_qr')).data);
  await port.state('connected');
  t.notOk(port.events.some((event) => 'state' in event && event.state === 'lost'));
  const { values } = port.credentials;
  await until('the answer to be kept', async () => values.get('link')?.includes(real) || undefined);
  await network.refuseLookUps(real, 1_000);
  const asked = async () => (await network.lookUps()).length;
  const before = await asked();
  const resumed = await bench.resumed({ account, port, session });
  t.equal(await asked(), before, 'not once it has said so');
  const later = await bench.reopened(resumed);
  const link = JSON.parse(later.port.credentials.values.get('link') ?? '');
  later.port.credentials.values.set('link', JSON.stringify({ ...link, verified: null }));
  await network.refuseLookUps(real, 0);
  await network.remove(real);
  await later.session.resume();
  t.match(await later.port.state('lost'), { detail: /did not say whose number/ });
  t.not(await network.waiting(real), null, 'nobody having the number says nothing of the phone');
});

t.test('a phone is unlinked again while nobody can say whose number it has', async (t) => {
  const { port, session } = await bench.open();
  const stranger = phoneNumber(295);
  await network.refuseLookUps(stranger, 1_000);
  await session.link({ method: 'qr', importContacts: false, importHistory: false });
  await network.scan(stranger, (await port.step('show_qr')).data);
  t.match(await port.state('lost'), { detail: /did not say whose number.*was unlinked again/ });
  t.equal(await network.waiting(stranger), null);
});

t.test(
  'a stored session of another number is refused and unlinked when it comes back',
  async (t) => {
    const before = await linked();
    before.session.close();
    const account = { ...before.account, identifier: phoneNumber(298) };
    const { port, session } = await bench.open(account, before.port.credentials);
    await session.resume();
    t.match(await port.state('refused'), { reason: 'wrong_phone' });
    t.equal(await network.waiting(before.phone), null);
    t.equal(port.credentials.values.size, 0);
  },
);

t.test('a pairing code that the network refuses is not shown', async (t) => {
  const { account, port, session } = await bench.open();
  for (const [error, expected] of [
    ['429', { state: 'refused', reason: 'rate_limited', detail: /by QR code, or later/ }],
    ['400', { state: 'refused', reason: 'login_refused', detail: /check the number/ }],
    ['503', { state: 'lost', reason: 'network_unreachable', detail: /no pairing code/ }],
  ] as const) {
    const before = port.events.length;
    await network.refuseCodes(account.identifier, error);
    await session.link({ method: 'pairing_code', importContacts: false, importHistory: false });
    await until(`the end with ${error}`, async () => port.events[before]);
    t.match(port.events[before], expected, error);
    t.equal(port.events.length, before + 1);
  }
  await network.refuseCodes(account.identifier, null);
  await bench.link({ account, port, session }, 'pairing_code');
});

t.test('a device that was scanned is logged in, whatever breaks before', async (t) => {
  for (const [what, hinder, free] of [
    [
      'no connection',
      (phone: string) => network.setReachable(phone, false),
      (phone: string) => network.setReachable(phone, true),
    ],
    [
      'too many log-ins',
      (phone: string) => network.refuse(phone, '429'),
      (phone: string) => network.refuse(phone, null),
    ],
    ['a broken connection', (phone: string) => network.breakLinks(phone), async () => undefined],
  ] as const) {
    const { account, port, session } = await bench.open();
    await session.link({ method: 'qr', importContacts: false, importHistory: false });
    const { data } = await port.step('show_qr');
    await hinder(account.identifier);
    const { connections } = network.traffic();
    await network.scan(account.identifier, data);
    await until(
      'another connection',
      async () => network.traffic().connections > connections || undefined,
    );
    await bench.quiet();
    await free(account.identifier);
    await port.state('connected');
    t.same(
      port.events.map((event) => ('state' in event ? event.state : event.type)),
      ['step', 'connected'],
      what,
    );
    t.equal(await network.devices(account.identifier), 1);
  }
});

t.test('a device that was taken off before its first login is refused', async (t) => {
  const { account, port, session } = await bench.open();
  await session.link({ method: 'qr', importContacts: false, importHistory: false });
  const { data } = await port.step('show_qr');
  await network.setReachable(account.identifier, false);
  const { connections } = network.traffic();
  await network.scan(account.identifier, data);
  await until(
    'another connection',
    async () => network.traffic().connections > connections || undefined,
  );
  await network.unlink(account.identifier);
  await network.setReachable(account.identifier, true);
  t.match(await port.state('refused'), { reason: 'login_refused' });
  t.equal(port.credentials.values.size, 0);
});

t.test('a version that the network no longer takes can be set by an option', async (t) => {
  const { account, port, session } = await linked();
  t.teardown(() => network.takeOnly(null));
  await network.takeOnly('2.3000.999');
  await network.drop(account.identifier);
  await port.state('lost');
  await session.resume();
  const { reason, detail } = await port.state('lost');
  t.equal(reason, 'version_refused');
  t.match(detail, /web_version/);
  const driver = hastyDriver({ ...options, web_version: '2.3000.999' });
  const newer = new Bench(driver, msgappWebWorld(network), log);
  t.teardown(async () => newer.closeAll());
  await newer.resumed({ account, port, session });
});

t.test('a proxy that refuses the connection has not judged the session', async (t) => {
  const proxy = createServer((_, response) => response.writeHead(401).end());
  proxy.on('upgrade', (_, socket) => socket.end('HTTP/1.1 401 Unauthorized\r\n\r\n'));
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  t.teardown(async () => void proxy.close());
  const { port: number } = proxy.address() as AddressInfo;
  const behind = hastyDriver({ ...options, websocket_url: `ws://127.0.0.1:${number}/` });
  const elsewhere = new Bench(behind, msgappWebWorld(network), log);
  t.teardown(async () => elsewhere.closeAll());
  const away = await elsewhere.reopened(await linked());
  await away.session.resume();
  t.match(await away.port.state('lost'), {
    reason: 'network_unreachable',
    detail: /could not be reached/,
  });
});

t.test('a log-out says whether the device is off the list', async (t) => {
  t.equal(await (await linked()).session.logOut(), 'unlinked');
  t.equal(await (await bench.reopened(await linked())).session.logOut(), 'unlinked');
  t.equal(await (await bench.open()).session.logOut(), 'unlinked', 'nothing was ever linked');
  const taken = await linked();
  await network.unlink(taken.phone);
  await taken.port.state('logged_out');
  t.equal(await taken.session.logOut(), 'unlinked', 'the owner was faster');
  const away = await linked();
  await network.setReachable(away.phone, false);
  await away.port.state('lost');
  t.equal(await away.session.logOut(), 'still_linked', 'no connection can be made');
  await network.setReachable(away.phone, true);
  const deaf = await linked();
  await network.deafen(deaf.phone);
  const logOut = () => deaf.session.logOut();
  const left = await doneWithin(t, 3_000, 'said before the gateway waits no more', logOut);
  t.equal(left, 'still_linked', 'the network does not answer');
});

t.test("the owner's notes to themselves are no history", async (t) => {
  const { port, session, account } = await bench.open();
  const { identifier: phone } = account;
  const past = (from: string, text: string) => ({ from, text, at: Date.now() - 60_000 });
  const history = [past(phone, 'a note to myself'), past(ada, 'hello')];
  const contacts = [
    { phone, name: 'Me' },
    { phone: ada, name: 'Ada' },
  ];
  await network.setPast(phone, { contacts, history });
  await session.link({ method: 'qr', importContacts: false, importHistory: true });
  await network.scan(phone, (await port.step('show_qr')).data);
  await port.state('connected');
  const imported = await until('the history', async () =>
    port.events.find((event) => event.type === 'history'),
  );
  t.match(imported, { messages: { length: 1 } });
  t.match(imported, { messages: [{ text: 'hello' }] });
});

t.test('a restart that the network asks for later is followed', async (t) => {
  const { phone, port, session } = await linked();
  await network.close(phone, '515', 'stream');
  await port.state('connected');
  await session.send(textTo(ada, 'msg_restart'), patient());
  t.notOk(port.events.some((event) => 'state' in event && event.state === 'lost'));
});

t.test('restarts without end are given up', async (t) => {
  const { phone, port } = await linked();
  const logIns = async () => (await network.logins())[phone] ?? 0;
  // Linking took the first of five.
  for (let asked = 2; asked <= 6; asked += 1) {
    const before = await logIns();
    await network.close(phone, '515', 'stream');
    if (asked <= 5) await until('its log-in', async () => (await logIns()) > before || undefined);
  }
  t.match(await port.state('lost'), { detail: /again and again/ });
});

t.test('a connection that is open and dead is noticed', async (t) => {
  const { phone, port } = await linked();
  await network.deafen(phone);
  t.match(await port.state('lost'), { reason: 'network_unreachable', detail: /does not answer/ });
});

t.test('who cannot be written to', async (t) => {
  const { phone, port, session } = await linked();
  const absent = phoneNumber(9002);
  await network.remove(absent);
  t.match(await failureOf(session.send(textTo(absent, 'msg_absent'), patient())), {
    code: 'not_on_network',
    certain: true,
    retryAfterMs: null,
  });
  t.match(await failureOf(session.send(textTo(null, 'msg_nobody', 'nobody'), patient())), {
    code: 'unknown_contact',
    certain: true,
  });
  const end = Date.now() + 60_000;
  await network.lockNewContacts(phone, end);
  const { until: stated } = await port.state('restricted');
  t.ok(Math.abs((stated ?? 0) - end) < 1_000, 'says until when');
  const told = new Date(Math.floor(end / 1_000) * 1_000).toISOString();
  t.match(await failureOf(session.send(textTo(ada, 'msg_locked'), patient())), {
    code: 'restricted_new_contacts',
    message: `does not let this account write to new contacts until ${told}`,
    certain: true,
    retryAfterMs: null,
  });
  await network.lockNewContacts(phone, null);
  await port.state('unrestricted');
  await network.exhaustQuota(phone, end);
  t.match(await failureOf(session.send(textTo(ada, 'msg_capped'), patient())), {
    code: 'new_contact_quota',
    message: `is used up until ${told}`,
    certain: true,
  });
  t.match(await port.state('restricted'), { scope: 'new_contacts', detail: /quota of 30/ });
  await network.exhaustQuota(phone, null);
  await session.send(textTo(ada, 'msg_unlocked'), patient());
});

t.test('a message that nobody would get is not taken for sent', async (t) => {
  const before = await linked();
  const leaver = phoneNumber(9015);
  await before.session.send(textTo(leaver, 'msg_there'), patient());
  // The network names no device of it any more.
  await network.remove(leaver);
  const { session } = await bench.resumed(before);
  const error = await failureOf(session.send(textTo(leaver, 'msg_left'), patient()));
  t.match(error, { code: 'not_sent', certain: true, retryAfterMs: 1_000 });
});

t.test('a device without usable keys keeps no message from the others', async (t) => {
  const { phone, session } = await linked();
  const [stale, bare, later] = [phoneNumber(9011), phoneNumber(9012), phoneNumber(9013)];
  const devicesOf = async (reference: string) =>
    (await network.shown(phone)).find(({ networkId }) => networkId === reference)?.devices;
  await network.addDevice(phone, stale);
  await network.loseKeys(stale, 1);
  for (const reference of ['msg_stale', 'msg_stale_again']) {
    await session.send(textTo(stale, reference), patient());
    t.equal(await devicesOf(reference), 1);
  }
  await network.loseKeys(bare, 0);
  t.match(await failureOf(session.send(textTo(bare, 'msg_bare'), patient())), {
    code: 'not_sent',
    certain: true,
  });
  t.equal(await devicesOf('msg_bare'), undefined);
  await session.send(textTo(later, 'msg_before'), patient());
  await network.loseKeys(later, 1);
  await network.addDevice(phone, later);
  await bench.quiet();
  const error = await failureOf(session.send(textTo(later, 'msg_after'), patient()));
  t.match(error, { code: 'not_sent', certain: true, retryAfterMs: 1_000 });
  await session.send(textTo(later, 'msg_after'), patient());
  t.equal(await devicesOf('msg_after'), 1);
});

t.test("a device of the owner's own without usable keys stops no message", async (t) => {
  const before = await linked();
  const { phone } = before;
  // The second has the number of the linked one.
  for (let device = 1; device <= 2; device += 1) await network.addDevice(phone, phone);
  await network.loseKeys(phone, 2);
  const { session } = await bench.resumed(before);
  await session.send(textTo(phoneNumber(9014), 'msg_own_stale'), patient());
  t.match(await network.shown(phone), [{ networkId: 'msg_own_stale', devices: 1 }]);
});

t.test('who is refused at one address is written to at the other', async (t) => {
  const { phone, session } = await linked();
  for (const kind of ['phone', 'hidden'] as const) {
    await network.refuseAddresses(phone, kind);
    await session.send(textTo(ada, `msg_not_at_${kind}`), patient());
  }
  const [plain, hidden] = [`${ada.slice(1)}@s.whatsapp.net`, `77${ada.slice(1)}@lid`];
  t.match(await network.shown(phone), [
    { to: ada, address: hidden, times: 1 },
    { to: ada, address: plain, times: 1 },
  ]);
  await network.refuseAddresses(phone, 'both');
  t.match(await failureOf(session.send(textTo(ada, 'msg_nowhere'), patient())), {
    code: 'restricted_new_contacts',
    message: /it has to write first/,
  });
});

t.test('the end of a restriction is noticed after a restart', async () => {
  const before = await linked();
  await network.lockNewContacts(before.phone, Date.now() + 60_000);
  await before.port.state('restricted');
  await until('it to be stored', async () =>
    before.port.credentials.written.at(-1)?.includes('"restricted":true') ? true : undefined,
  );
  const away = await bench.reopened(before);
  await network.lockNewContacts(before.phone, null);
  await away.session.resume();
  await away.port.state('unrestricted');
});

for (const way of ['a restart', 'a change of the proxy'] as const) {
  t.test(`the end of a block is noticed after ${way}`, async (t) => {
    const before = await linked();
    await network.block(before.phone, true);
    await before.port.state('restricted');
    const away = await bench.reopened(before);
    const proxy = way === 'a restart' ? null : await startHttpProxy(t);
    away.port.proxy = proxy && parseProxyUrl(proxy.url);
    await network.block(before.phone, false);
    await away.session.resume();
    await away.port.state('unrestricted');
    await away.port.state('connected');
    t.equal(proxy?.opened.length ?? 1, 1);
    await until(
      'the block to be forgotten',
      async () =>
        [...away.port.credentials.values.keys()].every((name) => name !== 'block') || undefined,
    );
    // Nothing is lifted twice: a lock on new contacts may have come meanwhile.
    const later = await bench.resumed(away);
    await later.session.send(textTo(ada, `msg_after_${way.length}`), patient());
    t.notMatch(later.port.events, [{ state: 'unrestricted' }]);
    t.match(later.port.events, [{ state: 'connected' }]);
  });
}

t.test('a block that could not be stored is reported once it is', async (t) => {
  const { phone, port } = await linked();
  const { credentials } = port;
  const write = credentials.set.bind(credentials);
  let failed = 0;
  credentials.set = async (values) => {
    if (failed === 2 || !('block' in values)) return await write(values);
    failed += 1;
    t.notMatch(port.events.at(-1), { state: 'restricted' });
    throw new Error('the database is away');
  };
  await network.block(phone, true);
  await port.state('restricted');
  t.equal(failed, 2);
  t.ok(credentials.values.has('block'));
});

t.test('a session that is closed before a block is stored reports nothing', async (t) => {
  const before = await linked();
  before.port.credentials.fenced = true;
  await network.block(before.phone, true);
  await bench.quiet();
  const away = await bench.reopened(before);
  await network.block(before.phone, false);
  await away.session.resume();
  await away.port.state('connected');
  t.notMatch(before.port.events.at(-1), { state: 'restricted' });
  t.match(away.port.events, [{ state: 'connected' }]);
});

t.test('a connection that blocks again while its end waits stays blocked', async (t) => {
  const { phone, port } = await linked();
  await network.block(phone, true);
  await port.state('restricted');
  const database = new EventEmitter();
  port.onEmit = async (event) => {
    if (event.type === 'state' && event.state === 'unrestricted') await once(database, 'back');
  };
  await network.block(phone, false);
  await port.state('unrestricted');
  await network.block(phone, true);
  await port.state('restricted');
  database.emit('back');
  await bench.quiet();
  t.ok(port.credentials.values.has('block'));
});

t.test('after a full restriction the connection is one like any other', async (t) => {
  const { phone, port, session } = await linked();
  const told = () => port.events.flatMap((event) => (event.type === 'state' ? event.state : []));
  await network.block(phone, true);
  await port.state('restricted');
  await network.block(phone, false);
  await port.state('unrestricted');
  await port.state('connected');
  await network.block(phone, true);
  t.match(await port.state('restricted'), { scope: 'all', until: null });
  await network.block(phone, false);
  await port.state('unrestricted');
  await port.state('connected');
  await network.drop(phone);
  await port.state('lost');
  await session.resume();
  await port.state('connected');
  await session.send(textTo(ada, 'msg_lifted'), patient());
  const restrictions = ['restricted', 'unrestricted', 'connected'];
  t.same(told(), ['connected', ...restrictions, ...restrictions, 'lost', 'connected']);
});

t.test('a connection that breaks before the end of a restriction is stored', async (t) => {
  const { phone, port } = await linked();
  await network.block(phone, true);
  await port.state('restricted');
  const before = port.events.length;
  const database = new EventEmitter();
  port.onEmit = async (event) => {
    if (event.type === 'state' && event.state === 'unrestricted') await once(database, 'back');
  };
  await network.block(phone, false);
  await port.state('unrestricted');
  await network.drop(phone);
  await port.state('lost');
  database.emit('back');
  await bench.quiet();
  t.match(port.events.slice(before), [
    { state: 'unrestricted' },
    { state: 'connected' },
    { state: 'lost' },
  ]);
});

t.test('looks for the end of a restriction go on while the database is away', async (t) => {
  const { phone, port } = await linked();
  await network.block(phone, true);
  await port.state('restricted');
  const before = port.events.length;
  const { credentials } = port;
  const read = credentials.get.bind(credentials);
  let failed = 0;
  credentials.get = async (names) => {
    if (failed === 2 || !names.includes('link')) return await read(names);
    failed += 1;
    throw new Error('the database is away');
  };
  await network.block(phone, false);
  await port.state('unrestricted');
  await port.state('connected');
  t.equal(failed, 2);
  t.match(port.events.slice(before), [{ state: 'unrestricted' }, { state: 'connected' }]);
});

t.test('a far side that asks again is answered, after a restart too', async (t) => {
  const before = await linked();
  const message = textTo(ada, 'msg_again');
  await before.session.send(message, patient());
  const later = await bench.resumed(before);
  later.port.sent.set(message.reference, message);
  await network.askAgain(before.phone, message.reference, ada);
  await until('the message to be sent again', async () => {
    const [shown] = await network.shown(before.phone);
    return shown?.times === 2 ? true : undefined;
  });
  await until('the request to be acknowledged', async () =>
    (await network.waiting(before.phone)) === 0 ? true : undefined,
  );
  t.match(await network.shown(before.phone), [{ networkId: 'msg_again', text: message.text }]);
});

t.test('only who a message was sent to may report on it or ask for it again', async (t) => {
  const { phone, port, session } = await linked();
  const [bia, real] = ['+5511900000181', '+551100000181'];
  const ben = phoneNumber(9046);
  await network.renumber(bia, real);
  const hidden = { phone: null, networkId: '8812345679@lid' };
  await session.send(textTo(ben, 'msg_of_ben'), patient());
  const asked = async (reference: string, who: string): Promise<number | undefined> => {
    await network.askAgain(phone, reference, who);
    await until('the request to be acknowledged', async () =>
      (await network.waiting(phone)) === 0 ? true : undefined,
    );
    const shown = await network.shown(phone);
    return shown.find(({ networkId }) => networkId === reference)?.times;
  };
  const refused = () => log.lines.filter((line) => line.includes('somebody else has asked'));
  await network.write(phone, { from: hidden.networkId, name: 'Nobody', text: 'guess who' });
  await port.message();
  for (const [index, to] of [number(ada), hidden, number(bia)].entries()) {
    const message = { ...textTo(null, `msg_asked_${index}`), to };
    await session.send(message, patient());
    port.sent.set(message.reference, message);
    const before = refused().length;
    t.equal(await asked(message.reference, ben), 1, 'a contact who guesses its id');
    t.equal(refused().length, before + 1);
    const itself = to === hidden ? hidden.networkId : to.phone === bia ? real : ada;
    t.equal(await asked(message.reference, itself), 2, 'its contact');
    t.equal(await asked(message.reference, phone), 3, "another device of the account's own");
    t.equal(refused().length, before + 1);
  }
  const addressOf = (who: string) => `${who.replace('+', '')}@s.whatsapp.net`;
  const hiddenIdOf = (who: string) => `77${who.replace('+', '')}@lid`;
  for (const by of [addressOf(ben), hiddenIdOf(ben)]) {
    await network.report(phone, 'msg_asked_0', 'read', by);
    await network.report(phone, 'msg_asked_1', 'read', by);
    await network.report(phone, 'msg_asked_2', 'read', by);
  }
  await until('all to be left out', async () => port.left.length === 6 || undefined);
  t.same(new Set(port.left), new Set(['receipt']));
  for (const [id, by] of [
    ['msg_asked_0', hiddenIdOf(ada)],
    ['msg_asked_0', addressOf(ada)],
    ['msg_asked_1', hidden.networkId],
    ['msg_asked_2', hiddenIdOf(real)],
    ['msg_asked_2', addressOf(real)],
  ] as const) {
    await network.report(phone, id, 'delivered', by);
    t.match(await port.receipt(), { reference: id, status: 'delivered' }, by);
  }
});

t.test('a message that is refused when one device asks again has not failed', async (t) => {
  const { phone, port, session } = await linked();
  const reader = phoneNumber(9016);
  const message = textTo(reader, 'msg_one_device');
  await network.addDevice(phone, reader);
  await session.send(message, patient());
  port.sent.set(message.reference, message);
  const sent = async () => (await network.heard()).message ?? 0;
  const before = await sent();
  await network.treatSends(phone, 'refuse');
  await network.askAgain(phone, message.reference, reader, 1);
  await until('it to be sent again', async () => (await sent()) > before || undefined);
  await network.report(phone, message.reference, 'delivered');
  t.match(await port.receipt(), { status: 'delivered' }, 'and nothing came before that');
  await network.report(phone, message.reference, 'failed');
  t.match(await port.receipt(), { status: 'failed' });
});

t.test('what cannot be read is asked for again', async (t) => {
  const { phone, port } = await linked();
  const text = 'read at the second try';
  const networkId = await network.write(phone, { from: ada, name: 'Ada', text, corrupt: true });
  t.match(await port.message(), { networkId, text });
});

t.test('a contact without a visible phone', async (t) => {
  const { phone, port, session } = await linked();
  const hidden = '8812345678@lid';
  await network.write(phone, { from: hidden, name: 'Nobody', text: 'guess who' });
  const { from } = await port.message();
  t.same(from, { phone: null, networkId: hidden, name: 'Nobody' });
  await session.send({ ...textTo(null, 'msg_hidden'), to: from }, patient());
  t.match(await network.shown(phone), [{ to: '8812345678', text: 'text of msg_hidden' }]);
  await network.report(phone, 'msg_hidden', 'read');
  t.match(await port.receipt(), { reference: 'msg_hidden', status: 'read' });
});

t.test('groups and broadcasts are left out, and the log says so once', async (t) => {
  const { phone, port } = await linked();
  const lines = log.lines.length;
  for (const group of ['1203-4567@g.us', 'status@broadcast', '1203-4567@g.us']) {
    await network.write(phone, { from: ada, name: 'Ada', text: 'to all', group });
  }
  await network.write(phone, { from: ada, name: 'Ada', text: 'to you' });
  t.match(await port.message(), { text: 'to you' });
  await until('all to be acknowledged', async () =>
    (await network.waiting(phone)) === 0 ? true : undefined,
  );
  t.equal(port.events.filter(({ type }) => type === 'message').length, 1);
  const said = log.lines.slice(lines).filter((line) => line.includes('left out'));
  t.equal(said.length, 1);
});

t.test('media both ways', async (t) => {
  const { phone, port, session } = await linked();
  for (const [kind, mimeType, shownAs] of [
    ['image', 'image/png', 'image'],
    ['video', 'video/mp4', 'video'],
    ['document', 'application/pdf', 'document'],
    ['audio', 'audio/mpeg', 'document'],
  ] as const) {
    const bytes = Buffer.from(`the bytes of ${kind}`.repeat(5_000));
    const url = `https://example.com/${kind}`;
    const file: MediaFile = {
      kind,
      mimeType,
      fileName: `a ${kind}`,
      size: bytes.length,
      stream: () => Readable.from([bytes.subarray(0, 100), bytes.subarray(100)]),
    };
    port.media.set(url, file);
    const reference = `msg_${kind}`;
    await session.send({ ...textTo(ada, reference), media: { url } }, patient());
    const shown = (await network.shown(phone)).find(({ networkId }) => networkId === reference);
    // The network's audio has no text beside it.
    t.match(shown, { text: `text of ${reference}`, media: { kind: shownAs, mimeType } });
    t.ok(Buffer.from(shown?.media?.bytes ?? '', 'base64').equals(bytes), `${kind} arrives whole`);
  }
  const gone = { ...textTo(ada, 'msg_gone'), media: { url: 'https://example.com/gone' } };
  t.match(await failureOf(session.send(gone, patient())), { code: 'media_unavailable' });
  const read: Buffer[] = [];
  port.onEmit = async (event) => {
    if (event.type === 'message' && event.media?.open !== undefined) {
      read.push(await buffer(await event.media.open(patient())));
    }
  };
  const bytes = picture.toString('base64');
  const media = {
    kind: 'document',
    mimeType: 'application/pdf',
    fileName: 'a.pdf',
    bytes,
  } as const;
  await network.write(phone, { from: ada, name: 'Ada', text: 'look', media });
  t.match(await port.message(), {
    text: 'look',
    media: {
      kind: 'document',
      mimeType: 'application/pdf',
      fileName: 'a.pdf',
      size: picture.length,
      url: null,
    },
  });
  await until('it to be acknowledged', async () =>
    (await network.waiting(phone)) === 0 ? true : undefined,
  );
  // The message is kept before its file is read: the acknowledgement may come first.
  await until('its file', async () => read.length > 0 || undefined);
  t.same(read, [picture]);
});

/** Sends a report to Ada. */
function reporting(
  { port, session }: Pick<Opened, 'port' | 'session'>,
  bytes = Buffer.from('the bytes of a report'),
) {
  const url = 'https://example.com/report';
  const stream = () => Readable.from([bytes]);
  const named = { mimeType: 'application/pdf', fileName: 'report.pdf', size: bytes.length };
  port.media.set(url, { kind: 'document', ...named, stream });
  return (reference: string) =>
    session.send({ ...textTo(ada, reference), media: { url } }, patient());
}

t.test('a refused question where media are uploaded costs one try', async (t) => {
  const { phone, port, session } = await linked();
  const sent = reporting({ port, session });
  await network.refuseMediaHosts(phone, [true]);
  t.match(await failureOf(sent('msg_hosts')), {
    code: 'not_sent',
    message: 'the file could not be uploaded',
    certain: true,
    retryAfterMs: 1_000,
  });
  await sent('msg_hosts');
  await network.drop(phone);
  await port.state('lost');
  await session.resume();
  await port.state('connected');
  // The library's own question alone: it would never ask again.
  await network.refuseMediaHosts(phone, [false, true]);
  t.match(await failureOf(sent('msg_library')), { certain: true });
  await port.state('lost');
  await session.resume();
  await port.state('connected');
  await sent('msg_library');
  t.match(await network.shown(phone), [{ networkId: 'msg_hosts' }, { networkId: 'msg_library' }]);
});

/** Paths of the files that this process has open. */
function openFiles(): readonly string[] {
  const folder = '/proc/self/fd';
  return readdirSync(folder).flatMap((name) => {
    try {
      return [readlinkSync(`${folder}/${name}`)];
    } catch {
      // The one that lists them.
      return [];
    }
  });
}

t.test('an upload that is under way ends with its session', async (t) => {
  const { port, session } = await linked();
  const { mediaHost } = network;
  mediaHost.holdsUploads = true;
  const { TMPDIR: usual } = process.env;
  const folder = t.testdir({});
  process.env.TMPDIR = folder;
  t.teardown(() => {
    mediaHost.holdsUploads = false;
    if (usual === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = usual;
  });
  const { begun } = mediaHost.uploads;
  // More than the buffers on its way take.
  const sending = failureOf(reporting({ port, session }, Buffer.alloc(32_000_000))('msg_upload'));
  await until('the upload', async () => mediaHost.uploads.underWay > 0 || undefined);
  const isOpen = () => openFiles().some((path) => path.startsWith(folder));
  t.ok(isOpen());
  session.close();
  t.ok(await sending);
  await until('its end', async () => mediaHost.uploads.underWay === 0 || undefined);
  await until('its file to be deleted', async () => readdirSync(folder).length === 0 || undefined);
  await until('its file to be closed', async () => !isOpen() || undefined);
  t.equal(mediaHost.uploads.begun, begun + 1, 'and none to the next host');
});

t.test('a throttled question where media are uploaded holds up its contact alone', async (t) => {
  const { phone, port, session } = await linked();
  const sent = reporting({ port, session });
  await session.send(textTo(ada, 'msg_known'), patient());
  await network.refuseMediaHosts(phone, [true, true], '429');
  const waits = { code: 'throttled', message: /where media are uploaded/, certain: true };
  for (const retryAfterMs of [60_000, 120_000]) {
    const failure = await failureOf(sent('msg_hosts'));
    t.match(failure, { ...waits, retryAfterMs, concerns: 'contact' });
  }
  await session.send(textTo(phoneNumber(9010), 'msg_opener'), patient());
  await sent('msg_hosts');
  t.match(await network.shown(phone), [
    { networkId: 'msg_known' },
    { networkId: 'msg_opener' },
    { networkId: 'msg_hosts' },
  ]);
});

t.test('a temporary folder that cannot be written fails a file, and ends no process', async (t) => {
  const { port, session } = await linked();
  const url = 'https://example.com/slow';
  const chunk = Buffer.alloc(1_000);
  async function* slowly() {
    for (let number = 0; number < 5; number += 1) {
      await sleep(50);
      yield chunk;
    }
  }
  const named = { mimeType: 'application/pdf', fileName: 'slow.pdf' };
  const file = (size: number): MediaFile => ({
    ...{ kind: 'document', ...named, size },
    stream: () => Readable.from(slowly()),
  });
  const uncaught: unknown[] = [];
  const note = (error: unknown) => uncaught.push(error);
  process.on('uncaughtException', note);
  const { TMPDIR: folder } = process.env;
  t.teardown(() => {
    process.off('uncaughtException', note);
    if (folder === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = folder;
  });
  const sent = (reference: string) =>
    session.send({ ...textTo(ada, reference), media: { url } }, patient());
  await session.send(textTo(ada, 'msg_known'), patient());
  port.media.set(url, file(5_000));
  process.env.TMPDIR = '/nowhere';
  const failure = await failureOf(sent('msg_slow'));
  t.same(uncaught, []);
  t.match(failure, {
    code: 'not_sent',
    message: /temporary folder cannot be written \(ENOENT\)/,
    certain: true,
    retryAfterMs: 1_000,
  });
  process.env.TMPDIR = folder ?? '/tmp';
  await sent('msg_slow');
  port.media.set(url, file(Number.MAX_SAFE_INTEGER));
  t.match(await failureOf(sent('msg_large')), { code: 'not_sent', message: /folder is full/ });
});

t.test('nothing secret is printed or logged', async (t) => {
  const secrets = new Set(
    opened.flatMap(({ port }) =>
      port.credentials.written.flatMap((value) =>
        [...value.matchAll(/"(?:data|privKey|private)":"([A-Za-z0-9+/=]{24,})"/g)].map(
          ([, secret]) => secret ?? '',
        ),
      ),
    ),
  );
  t.ok(secrets.size > 1_000, 'there were keys to look for');
  const said = [...printed, ...log.lines].join('\n');
  const found = [...secrets].filter((secret) => {
    const hex = Buffer.from(secret, 'base64').subarray(0, 10).toString('hex');
    const spaced = hex.replace(/(..)(?!$)/g, '$1 ');
    return said.includes(secret) || said.includes(hex) || said.includes(spaced);
  });
  t.same(found, []);
  t.notMatch(said, /Closing session|SessionEntry|privKey/);
});
