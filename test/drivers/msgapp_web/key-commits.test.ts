import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { DriverError, type MessageEvent, type Sent } from '../../../core/contracts/driver.ts';
import { makeMsgappWebDriver } from '../../../drivers/msgapp_web/driver.ts';
import { LogLines } from '../../../testing/contract/driver/log-lines.ts';
import { MemoryCredentials, MemoryPort } from '../../../testing/contract/driver.ts';
import { phoneNumber, until } from '../../harness/story.ts';
import { startNetwork } from '../../networks/msgapp_web/process.ts';
import { letLongTimersGo } from './running-network.ts';

letLongTimersGo();
const { network, places } = await startNetwork(t);
const options = { websocket_url: places.url, root_public_key: places.rootPublicKey };
const contacts = Array.from({ length: 8 }, (_, number) => phoneNumber(9001 + number));

/** Credentials whose writes last as long as a commit on a slow disk, and whose reads the gateway's cache answers. */
class CountedCredentials extends MemoryCredentials {
  writeMs = 20;
  /** Writes that stored the keys of messages. */
  commits = 0;
  broken = false;
  unreadable = false;

  override async get(names: readonly string[]): Promise<Readonly<Record<string, string>>> {
    if (this.unreadable) throw new Error('the database is away');
    return Object.fromEntries([...this.values].filter(([name]) => names.includes(name)));
  }

  override async set(values: Readonly<Record<string, string | null>>): Promise<void> {
    await sleep(this.writeMs);
    if (this.broken) throw new Error('the disk is full');
    await super.set(values);
    if (Object.keys(values).some((name) => name.startsWith('key:session:'))) this.commits += 1;
  }
}

let phones = 0;

async function linked(framesWait = true, credentials = new CountedCredentials()) {
  phones += 1;
  const phone = phoneNumber(phones);
  const counts = new Map<string, number>();
  const count = (what: string) => counts.set(what, (counts.get(what) ?? 0) + 1);
  const driver = makeMsgappWebDriver({ options, framesWait, count });
  const account = { id: phone, tenantId: 'ten_1', channel: 'msgapp_web', identifier: phone };
  const port = new MemoryPort(new LogLines(), credentials);
  const session = driver.open(account, port);
  t.teardown(async () => session.close());
  await session.link({ method: 'qr', importContacts: false, importHistory: false });
  await network.scan(phone, (await port.step('show_qr')).data);
  await port.state('connected');
  const send = (to: string, reference: string): Promise<Sent> => {
    const message = { reference, attempt: 1, text: `text of ${reference}`, media: null };
    const address = to.includes('@')
      ? { phone: null, networkId: to }
      : { phone: to, networkId: null };
    return session.send({ ...message, to: address }, AbortSignal.timeout(15_000));
  };
  const shown = async () => (await network.shown(phone)).map(({ networkId }) => networkId);
  return { phone, account, driver, port, session, credentials, counts, send, shown };
}

type Linked = Awaited<ReturnType<typeof linked>>;

/** Eight conversations at once, one message under way in each. @returns commits of their keys */
async function converse({ send, credentials }: Linked, name: string, turns: number) {
  const before = credentials.commits;
  const begunAt = performance.now();
  await Promise.all(
    contacts.map(async (contact, number) => {
      for (let turn = 0; turn < turns; turn += 1) await send(contact, `${name}_${number}_${turn}`);
    }),
  );
  return { commits: credentials.commits - before, ms: performance.now() - begunAt };
}

t.test('the keys of messages that are under way together share a commit', async (t) => {
  const turns = 12;
  const messages = turns * contacts.length;
  const [gated, waiting] = [await linked(), await linked(false)];
  for (const one of [gated, waiting]) await converse(one, 'warm', 1);
  // So long that eight messages are encrypted meanwhile, also on a busy machine.
  gated.credentials.writeMs = 200;
  const shared = await converse(gated, 'shared', turns);
  const apart = await converse(waiting, 'apart', turns);
  t.comment(`${messages} messages: ${JSON.stringify({ shared, apart })}`);
  t.ok(shared.commits <= messages / 3, `${shared.commits} commits for ${messages} messages`);
  t.ok(apart.commits >= messages * 0.9, `${apart.commits} when whoever encrypts waits`);
  for (const { phone } of [gated, waiting]) {
    const shown = await network.shown(phone);
    t.equal(shown.length, messages + contacts.length);
    for (const contact of contacts) {
      const texts = shown.filter(({ to }) => to === contact).map(({ text }) => text);
      t.same(texts.map((text) => Number(text.split('_').at(-1))).slice(1), [
        ...Array(turns).keys(),
      ]);
    }
  }
  t.ok((gated.counts.get('frames_held') ?? 0) >= messages, 'counted');
  t.ok((gated.counts.get('key_commits') ?? 0) < (gated.counts.get('keys_changed') ?? 0) / 3);
  t.equal(waiting.counts.get('frames_held'), undefined);
});

/** What is written at once to a phone that is away from its connection for a moment. */
const texts = Array.from({ length: 64 }, (_, number) => ({
  from: contacts[number % contacts.length] ?? '',
  name: 'Ada',
  text: `text ${number}`,
}));

const received = ({ port }: Linked) =>
  port.events.flatMap((event) => (event.type === 'message' ? [event.text ?? ''] : []));

const nothingOffered = ({ phone }: Linked) =>
  until('all to be acknowledged', async () => (await network.waiting(phone)) === 0 || undefined);

t.test('messages that come together share a write of their keys', async (t) => {
  const one = await linked();
  await network.writeAtOnce(one.phone, texts.slice(0, contacts.length));
  await nothingOffered(one);
  const { commits } = one.credentials;
  one.credentials.writeMs = 200;
  await network.writeAtOnce(one.phone, texts);
  await nothingOffered(one);
  t.same(
    received(one).slice(contacts.length),
    texts.map(({ text }) => text),
    'in order',
  );
  const shared = one.credentials.commits - commits;
  t.ok(shared <= texts.length / 3, `${shared} commits for ${texts.length} messages`);
});

t.test('one that cannot be stored keeps back none that came with it', async (t) => {
  const one = await linked();
  const refused = 'text 20';
  one.port.onEmit = async (event) => {
    if (event.type === 'message' && event.text === refused) throw new Error('it cannot be stored');
  };
  await network.writeAtOnce(one.phone, texts);
  await until('all but one', async () => (await network.waiting(one.phone)) === 1 || undefined);
  t.same(new Set(received(one)), new Set(texts.map(({ text }) => text)), 'each was handed over');
  const { reused } = await network.ratchets();
  t.equal(reused, 0, 'no key was used twice');
});

/** A film that a contact sends; its bytes are of no concern here. */
const media = { kind: 'video', mimeType: 'video/mp4', bytes: 'AAAA' } as const;

/** Has the gateway wait with the messages that this picks from now on. @returns what lets them come */
function hang(
  port: MemoryPort,
  isPicked = ({ media }: MessageEvent): boolean => media !== null,
): () => void {
  let arrive = (): void => undefined;
  const arrived = new Promise<void>((resolve) => {
    arrive = resolve;
  });
  t.teardown(() => arrive());
  port.onEmit = async (event) => {
    if (event.type === 'message' && isPicked(event)) await arrived;
  };
  return arrive;
}

/** The credentials that keep messages whose files are on their way. */
const arriving = ({ credentials }: Linked) =>
  [...credentials.values.keys()].filter((name) => name.startsWith('arriving'));

t.test('a text that is slow to be stored holds up who sent it alone', async (t) => {
  const { phone, port, send, shown } = await linked();
  const [ada = '', bob = ''] = contacts;
  for (const [number, contact] of [ada, bob].entries()) {
    await send(contact, `first_${number}`);
    await network.write(phone, { from: contact, name: 'Ada', text: 'first' });
    await port.message();
  }
  const store = hang(port, ({ text }) => text === 'stored late');
  await network.write(phone, { from: ada, name: 'Ada', text: 'stored late' });
  t.match(await port.message(), { text: 'stored late' });
  const reply = send(ada, 'reply');
  await sleep(100);
  await send(bob, 'meanwhile');
  t.equal((await shown()).at(-1), 'meanwhile');
  store();
  await reply;
  t.equal((await shown()).at(-1), 'reply');
  t.equal((await network.ratchets()).reused, 0);
});

t.test('a file that is slow to come holds up what is sent behind it alone', async (t) => {
  const one = await linked();
  const { phone, port, send, shown } = one;
  const [ada = '', bob = ''] = contacts;
  for (const [number, contact] of [ada, bob].entries()) {
    await send(contact, `first_${number}`);
    await network.write(phone, { from: contact, name: 'Ada', text: 'first' });
    await port.message();
  }
  const arrive = hang(port);
  await network.writeAtOnce(phone, [
    // A copy of what the owner wrote on the phone: every message has one for the phone.
    { from: phone, name: 'Me', text: 'written on the phone' },
    { from: ada, name: 'Ada', text: 'a film', media },
    { from: ada, name: 'Ada', text: 'said of the film' },
  ]);
  t.match(await port.message(), { text: 'a film' });
  await send(ada, 'reply');
  t.equal((await shown()).at(-1), 'reply', 'an answer goes at once');
  await sleep(300);
  await network.write(phone, { from: bob, name: 'Bob', text: 'a text' });
  t.match(await port.message(), { text: 'a text' });
  await network.write(phone, { from: ada, name: 'Ada', text: 'and more' });
  await nothingOffered(one);
  await send(bob, 'meanwhile');
  t.equal(received(one).at(-1), 'a text');
  t.equal(arriving(one).length, 1 + 3);
  arrive();
  t.match(await port.message(), { text: 'said of the film' });
  t.match(await port.message(), { text: 'and more' });
  await until('nothing to be kept', async () => arriving(one).length === 0 || undefined);
  t.equal((await network.ratchets()).reused, 0);
});

t.test('files that come together are fetched side by side, of each contact one', async (t) => {
  const one = await linked();
  const { phone, port } = one;
  const [ada = '', bob = '', cem = ''] = contacts;
  const arrive = hang(port);
  await network.writeAtOnce(phone, [
    { from: ada, name: 'Ada', text: 'a film', media },
    { from: ada, name: 'Ada', text: 'its second part', media },
    { from: bob, name: 'Bob', text: 'another film', media },
    { from: cem, name: 'Cem', text: 'a text' },
  ]);
  await nothingOffered(one);
  const first = ['a film', 'a text', 'another film'];
  await until('the first of each', async () => received(one).length === 3 || undefined);
  t.same(received(one).toSorted(), first);
  arrive();
  await until('the last', async () => received(one).length === 4 || undefined);
  t.equal(received(one).at(-1), 'its second part');
});

t.test('what arrives when a session closes arrives once in the next, in order', async (t) => {
  const one = await linked();
  const { phone, port, session, credentials, account, driver } = one;
  const [ada = '', bob = ''] = contacts;
  hang(port);
  await network.write(phone, { from: ada, name: 'Ada', text: 'a film', media });
  await port.message();
  await network.write(phone, { from: ada, name: 'Ada', text: 'said of the film' });
  await network.write(phone, { from: bob, name: 'Bob', text: 'a text' });
  t.match(await port.message(), { text: 'a text' });
  await nothingOffered(one);
  session.close();
  const later = new MemoryPort(port.log, credentials);
  const next = driver.open(account, later);
  t.teardown(async () => next.close());
  await network.write(phone, { from: ada, name: 'Ada', text: 'written meanwhile' });
  await next.resume();
  for (const text of ['a film', 'said of the film', 'written meanwhile']) {
    const message = await later.message();
    t.match(message, { text, from: { phone: ada, name: 'Ada' } });
    t.equal(message.media?.open === undefined, text !== 'a film');
  }
  await until('nothing to be kept', async () => arriving(one).length === 0 || undefined);
  t.notOk(received(one).includes('said of the film'));
  t.equal(later.events.filter(({ type }) => type === 'message').length, 3, 'each once');
  t.equal((await network.ratchets()).reused, 0);
});

t.test('a film that cannot be kept holds up its writer until it is, then is told', async (t) => {
  const one = await linked();
  const { phone, port } = one;
  const [ada = ''] = contacts;
  let failures = 0;
  port.onEmit = async (event) => {
    if (event.type !== 'message' || event.media === null || failures > 0) return;
    failures += 1;
    throw new Error('it cannot be stored');
  };
  await network.write(phone, { from: ada, name: 'Ada', text: 'a film', media });
  await network.write(phone, { from: ada, name: 'Ada', text: 'said of the film' });
  await until('all', async () => received(one).length === 3 || undefined);
  t.same(received(one), ['a film', 'a film', 'said of the film']);
  await until('nothing to be kept', async () => arriving(one).length === 0 || undefined);
});

t.test('more films than are kept wait with the network, and none is lost', async (t) => {
  const one = await linked();
  const { phone, port } = one;
  const [ada = '', bob = ''] = contacts;
  const arrive = hang(port);
  const films = Array.from({ length: 300 }, (_, number) => ({
    ...{ from: ada, name: 'Ada', text: `film ${number}`, media },
  }));
  for (let first = 0; first < films.length; first += 30) {
    await network.writeAtOnce(phone, films.slice(first, first + 30));
  }
  await network.write(phone, { from: bob, name: 'Bob', text: 'behind them' });
  await until('as many as are kept', async () => arriving(one).length > 200 || undefined, 30_000);
  await sleep(500);
  t.ok(arriving(one).length <= 1 + 200 + 32);
  t.ok((await network.waiting(phone)) !== 0);
  arrive();
  await until('all', async () => received(one).length === 301 || undefined, 60_000);
  await nothingOffered(one);
  const texts = received(one).filter((text) => text !== 'behind them');
  t.same(
    texts,
    films.map(({ text }) => text),
  );
});

t.test('a key that cannot be read for a moment is not taken for a missing one', async (t) => {
  const one = await linked();
  const { phone, port, credentials } = one;
  const [from = ''] = contacts;
  await network.write(phone, { from, name: 'Ada', text: 'before' });
  await port.message();
  const retries = async () => (await network.heard())['receipt retry'] ?? 0;
  const before = await retries();
  credentials.unreadable = true;
  await network.write(phone, { from, name: 'Ada', text: 'meanwhile' });
  await sleep(400);
  credentials.unreadable = false;
  t.match(await port.message(), { text: 'meanwhile' });
  await nothingOffered(one);
  t.equal(await retries(), before, 'nor is it asked for again');
});

t.test('who is written to may write at the same time', async (t) => {
  const { phone, port, send } = await linked();
  // By phone, while what they write is decrypted by their hidden id: two names of one session.
  for (const [number, contact] of contacts.entries()) {
    await send(contact, `first_${number}`);
    await network.write(phone, { from: contact, name: 'Ada', text: 'first' });
    await port.message();
  }
  const before = await network.ratchets();
  const turns = 10;
  await Promise.all(
    contacts.flatMap((contact, number) => [
      (async () => {
        for (let turn = 0; turn < turns; turn += 1) {
          await send(contact, `both_${number}_${turn}`);
        }
      })(),
      (async () => {
        for (let turn = 0; turn < turns; turn += 1) {
          await network.write(phone, { from: contact, name: 'Ada', text: `reply ${turn}` });
          await sleep(50);
        }
      })(),
    ]),
  );
  await until('each reply', async () => {
    const messages = port.events.filter(({ type }) => type === 'message');
    return messages.length === (turns + 1) * contacts.length ? true : undefined;
  });
  t.equal((await network.shown(phone)).length, (turns + 1) * contacts.length, 'each could be read');
  const after = await network.ratchets();
  t.ok(after.used - before.used >= 2 * turns * contacts.length);
  t.equal(after.reused, before.reused, 'no change of a session was lost');
});

t.test('keys that cannot be stored end the connection before any message', async (t) => {
  const { port, session, credentials, send, shown } = await linked();
  for (const [number, contact] of contacts.entries()) await send(contact, `before_${number}`);
  const { used } = await network.ratchets();
  credentials.broken = true;
  const sending = contacts.map((contact, number) =>
    send(contact, `broken_${number}`).catch((error: unknown) => error),
  );
  for (const outcome of await Promise.all(sending)) {
    t.ok(outcome instanceof DriverError && outcome.retryAfterMs !== null, 'to be tried again');
  }
  t.match(await port.state('lost'), { reason: 'driver_failed' });
  t.equal((await network.ratchets()).used, used, 'nothing that was encrypted has arrived');
  credentials.broken = false;
  await session.resume();
  await port.state('connected');
  for (const [number, contact] of contacts.entries()) await send(contact, `broken_${number}`);
  t.equal((await shown()).length, 2 * contacts.length, 'each is shown once, and none is lost');
  t.equal((await network.ratchets()).reused, 0, 'encrypted anew');
});

t.test('a link that cannot be stored at once is not lost', async (t) => {
  const phone = phoneNumber(290);
  const credentials = new CountedCredentials();
  const account = { id: phone, tenantId: 'ten_1', channel: 'msgapp_web', identifier: phone };
  const port = new MemoryPort(new LogLines(), credentials);
  const session = makeMsgappWebDriver({ options }).open(account, port);
  t.teardown(async () => session.close());
  await session.link({ method: 'qr', importContacts: false, importHistory: false });
  const { data } = await port.step('show_qr');
  credentials.broken = true;
  await network.scan(phone, data);
  const loggedIn = async () => ((await network.logins())[phone] ?? 0) > 0 || undefined;
  await until('the log-in of the new device', loggedIn);
  await sleep(1_000);
  credentials.broken = false;
  await port.state('connected');
  t.notOk(port.events.some((event) => event.type === 'state' && event.state === 'lost'));
  t.ok(credentials.values.has('link'));
});

t.test('nothing that is held leaves without the lease', async (t) => {
  const { session, credentials, send, shown } = await linked();
  for (const [number, contact] of contacts.entries()) await send(contact, `leased_${number}`);
  const { used } = await network.ratchets();
  const sending = contacts.map((contact, number) =>
    send(contact, `lost_${number}`).catch(() => 'failed'),
  );
  // The first write is under way, and the frames behind it are held.
  await sleep(10);
  credentials.fenced = true;
  session.close();
  t.same(new Set(await Promise.all(sending)), new Set(['failed']));
  t.equal((await network.ratchets()).used, used);
  t.equal((await shown()).length, contacts.length);
});

t.test('a key that was used and not stored would be seen here', async (t) => {
  const { account, driver, port, session, credentials, send } = await linked();
  // By the hidden id: by phone, each connection begins with new sessions.
  const ada = `77${phoneNumber(9_200).slice(1)}@lid`;
  await send(ada, 'stored');
  const before = new Map(credentials.values);
  const { reused } = await network.ratchets();
  await send(ada, 'forgotten');
  session.close();
  const old = new MemoryPort(port.log, new MemoryCredentials(before));
  const back = driver.open(account, old);
  t.teardown(async () => back.close());
  await back.resume();
  await old.state('connected');
  const message = { reference: 'again', attempt: 1, text: 'again', media: null };
  const to = { phone: null, networkId: ada };
  await back.send({ ...message, to }, AbortSignal.timeout(3_000)).catch(() => undefined);
  t.ok((await network.ratchets()).reused > reused);
});

t.test('a new contact whose keys come late holds up nobody else', async (t) => {
  const { send, shown } = await linked();
  const [ada = '', ...others] = contacts;
  await send(ada, 'first');
  const late = phoneNumber(9_100);
  await network.delayKeys(late, 4_000);
  let isSent = false;
  const slow = send(late, 'late').then(() => {
    isSent = true;
  });
  for (const [number, contact] of [ada, ...others].entries())
    await send(contact, `other_${number}`);
  t.equal(isSent, false, 'known contacts and new ones overtake it');
  await slow;
  t.equal((await shown()).at(-1), 'late');
});
