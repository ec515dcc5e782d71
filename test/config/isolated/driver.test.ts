import { existsSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { IsolatedDriver } from '../../../config/isolated/driver.ts';
import type {
  Driver,
  DriverAccount,
  DriverEvent,
  MediaFile,
  OutboundMedia,
  OutboundMessage,
  Port,
  StoredCredentials,
} from '../../../core/contracts/driver.ts';
import type { DriverFault } from '../../../core/contracts/driver-faults.ts';
import { SharedDeadline } from '../../../core/shared-deadline.ts';
import { LogLines } from '../../../testing/contract/driver/log-lines.ts';
import { until } from '../../harness/story.ts';

/** What the text of a message has the driver do; a name that is `slow` is parsed once the file `freed` exists. */
const source = `
import { appendFileSync, existsSync, writeFileSync } from 'node:fs';
import { Readable } from 'node:stream';

const kept = [];
let writing, stop;
const entries = new Map();
const deeds = {
  async reads({ port, message, signal }) {
    const file = await port.fetchMedia(message.media, signal);
    const first = file.stream();
    for await (const bytes of first) break;
    let size = 0;
    for await (const bytes of file.stream()) size += bytes.length;
    return { networkId: file.fileName + ' ' + size, at: 5 };
  },
  async fetchesAgain({ port, message }) {
    const { media } = await port.sentMessage(message.reference);
    stop = new AbortController();
    kept.push(await port.fetchMedia(media, stop.signal));
  },
  async stops() {
    stop.abort();
  },
  async fetchesCopy({ port, message, signal }) {
    kept.push(await port.fetchMedia({ ...message.media }, signal));
    await deeds.readsKept();
  },
  async readsKept() {
    for await (const bytes of kept.at(-1).stream());
  },
  async receives({ port, emit }) {
    const open = async () => Readable.from([Buffer.alloc(100_000), Buffer.alloc(100_000)]);
    const media = { kind: 'image', mimeType: null, fileName: null, size: null, url: null, open };
    await emit('message', { media });
    await emit('history', { messages: [{ media }, { media: null }] });
  },
  async leavesRejectedLater({ emit, signal }) {
    const reject = (text) => void Promise.reject(new Error(text));
    signal.addEventListener('abort', () => reject('at the abort'));
    const open = async () => {
      reject('while it opens');
      return new Readable({ read: () => reject('while it is read') });
    };
    await emit('message', { media: { open } });
    await new Promise(() => undefined);
  },
  async throwsAtAbort({ emit, signal }) {
    const fail = (text) => () => {
      throw new Error(text);
    };
    AbortSignal.any([signal]).addEventListener('abort', fail('at the abort of another signal'));
    signal.addEventListener('abort', fail('at the abort'));
    const open = (opening) => {
      opening.addEventListener('abort', fail('at the abort of a file'));
      return new Promise(() => undefined);
    };
    void emit('message', { media: { open } });
    await new Promise(() => undefined);
  },
  async throwsAfterAbort({ port, signal }) {
    signal.addEventListener('abort', () => setTimeout(() => deeds.unknown()));
    port.leftOut('call');
    await new Promise(() => undefined);
  },
  async breaksOff({ emit, message }) {
    const begun = new Readable({ read() {} });
    begun.push('begun');
    const open = () => (message.reference === 'opened' ? begun : new Promise(() => undefined));
    void emit('message', { media: { open } });
    setTimeout(() => {
      throw new Error('thrown later');
    }, 100);
    await new Promise(() => undefined);
  },
  async emitsCode({ emit }) {
    await emit('message', { media: () => 5 });
  },
  async answersCode() {
    return { networkId: 'n', at: 5, socket: () => 5 };
  },
  async fails() {
    throw Object.assign(new Error('try later'), refusal);
  },
  async tells({ port }) {
    return { networkId: JSON.stringify({ proxy: port.proxy, ...told }), at: 5 };
  },
  async logs({ port }) {
    port.log.warn({ socket: () => 5, n: 1 }, 'said');
    port.log.error(new TypeError('an error as the facts'), 'said again');
  },
  async loses({ emit }) {
    await emit('state', { state: 'lost', reason: 'rate_limited', retryAt: 7 });
  },
  async waits({ port, signal }) {
    port.leftOut('call');
    const given = new Promise((_, reject) => {
      signal.addEventListener('abort', () => reject(new Error('given up')));
    });
    await given;
  },
  async leavesRejected() {
    void Promise.reject(new Error('left rejected'));
  },
  async throwsLater() {
    setTimeout(() => {
      throw new Error('thrown later');
    });
    await new Promise(() => undefined);
  },
  async leaksEntries() {
    const leak = () => {
      for (let n = 0; n < 20_000; n += 1) entries.set(entries.size, n);
      setTimeout(leak, 5);
    };
    leak();
    await new Promise(() => undefined);
  },
  async leaksBuffers() {
    setInterval(() => kept.push(Buffer.alloc(10_000_000, 1)), 20);
    await new Promise(() => undefined);
  },
  async storesSoon({ port, message }) {
    const values = { 'key:bob': 'late', 'key:ada': 'late', 'key:gone': null };
    setTimeout(() => {
      port.credentials.set(values).catch(() => undefined);
      writeFileSync(message.reference, '');
    }, 10);
  },
  async writesOn({ message }) {
    writing = setInterval(() => appendFileSync(message.reference, process.hrtime.bigint() + '\\n'), 1);
    await new Promise(() => undefined);
  },
  async writesForEver({ message }) {
    for (;;) appendFileSync(message.reference, 'x');
  },
};
const told = { typing: [], forgotten: [] };
const refusal = { [Symbol.for('messaging-gateway.DriverError')]: true, code: 'slow_down', certain: true, retryAfterMs: 7, concerns: 'contact' };

export default function make({ options }) {
  if (options.fails) throw new Error('not today');
  return {
    capabilities: {
      ...{ deduplicates: false, receipts: 'none', recipients: 'address', media: true },
      linkMethods: Object.assign(['name'], options.code && { code: () => 5 }),
      imports: { contacts: false, history: false },
    },
    identifier: {
      description: 'a name',
      parse(text) {
        while (text === 'slow' && !existsSync(options.freed));
        return /^\\w+$/.test(text) ? text.toLowerCase() : null;
      },
    },
    async credentialsOf({ networkId }, stored, erasedAt) {
      const names = await stored.names(['key:' + networkId]);
      const { book } = await stored.get(['book']);
      return [...names, book, 'before ' + erasedAt];
    },
    open(account, port) {
      if (account.identifier === 'half') return { link() {}, resume() {}, answer() {}, send() {}, close() {} };
      const emit = (type, event) => port.emit({ type, ...event });
      const resume = () => emit('state', { state: 'connected' });
      const send = async (message, signal) =>
        (await deeds[message.text]({ port, message, signal, emit })) ?? { networkId: 'n', at: 5 };
      const close = () => {
        clearInterval(writing);
        if (account.identifier === 'bad') deeds.unknown();
      };
      const typing = async (to) => void told.typing.push(to.networkId);
      const forget = (names) => told.forgotten.push(...names);
      return { link: resume, resume, typing, forget, send, answer: async () => ({ accepted: true }), logOut: async () => 'unlinked', close };
    },
  };
}`;

// A thread that leaks is busy with its garbage first.
t.setTimeout(120_000);

const folder = t.testdir({ 'driver.mjs': source });
const faults: DriverFault[] = [];
const log = new LogLines();

function make(options: object = {}, deadline = new SharedDeadline()): Promise<IsolatedDriver> {
  const fields = { name: 'channels.mail.driver', options: 'channels.mail.options' };
  const outside = { name: './driver.mjs', folder, options: { ...options }, fields };
  return IsolatedDriver.make({
    ...{ channel: 'mail', dataDir: folder, memoryMb: 64, log, deadline },
    outside: { ...outside, noun: 'driver', makingMs: 60_000 },
    faults: { report: (fault) => faults.push(fault) },
  });
}

/** Keeps this thread from all other work, milliseconds. */
function block(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/** What the driver makes of a name, asked again while its thread is late. */
async function parsed(driver: Driver, text: string): Promise<string | null | undefined> {
  const answer = await until(`${text} to be parsed`, async () => {
    try {
      return { name: driver.identifier?.parse(text) };
    } catch (error) {
      if (/no answer to parse|is late/.test(String(error))) return undefined;
      throw error;
    }
  });
  return answer.name;
}

/** A session of the driver, and all that it has emitted. */
function open(driver: Driver, identifier = 'ada', port: Partial<Port> = {}) {
  const events: DriverEvent[] = [];
  const emit = async (event: DriverEvent): Promise<void> => {
    events.push(event);
  };
  // As much of a port as is called.
  const given = { emit, log, credentials: {}, ...port } as unknown as Port;
  const id = `acc_${identifier}`;
  const account: DriverAccount = { id, tenantId: 'ten_1', channel: 'mail', identifier };
  const session = driver.open(account, given);
  const send = (text: string, more: Partial<OutboundMessage> = {}, signal?: AbortSignal) => {
    const message = { reference: text, attempt: 1, to: { phone: null, networkId: 'b' }, text };
    return session.send(
      { ...message, media: null, ...more },
      signal ?? new AbortController().signal,
    );
  };
  return { session, events, send };
}

t.test('a proxy, typing and the keys of an erased contact cross too', async (t) => {
  const driver = await make();
  t.teardown(() => driver.close());
  const proxy = {
    protocol: 'http',
    host: '192.0.2.1',
    port: 80,
    username: 'a',
    password: 'b',
  } as const;
  const { session, send } = open(driver, 'ada', { proxy });
  const known = async (): Promise<unknown> => JSON.parse((await send('tells')).networkId);
  await session.resume();
  t.same(await known(), { proxy, typing: [], forgotten: [] });
  await session.link({ method: 'name', importContacts: false, importHistory: false });
  const bob = { phone: null, networkId: 'bob' };
  await session.typing?.(bob);
  const stored: StoredCredentials = {
    get: async ([name = '']) => ({ [name]: 'entry of bob' }),
    names: async ([prefix]) => [`${prefix}:1`],
  };
  const names = await driver.credentialsOf?.(bob, stored, 7);
  t.same(names, ['key:bob:1', 'entry of bob', 'before 7']);
  session.forget?.(names ?? []);
  t.same(await known(), { proxy, typing: ['bob'], forgotten: names });
  session.close();
});

t.test('what was about to be stored before an erasure is not stored after it', async (t) => {
  const driver = await make();
  t.teardown(() => driver.close());
  const stored: object[] = [];
  const set = async (values: object): Promise<void> => void stored.push(values);
  const { session, send } = open(driver, 'ada', { credentials: { set } as Port['credentials'] });
  const values = { 'key:bob': 'late', 'key:ada': 'late', 'key:gone': null };
  const storing = async (count: number) =>
    await until('the values', async () => stored.length === count || undefined);
  const reference = join(folder, 'on their way');
  await send('storesSoon', { reference });
  // The values are on their way before this thread can take them.
  while (!existsSync(reference)) block(10);
  session.forget?.(['key:bob', 'key:gone']);
  t.same(stored, []);
  await storing(1);
  t.same(stored, [{ 'key:ada': 'late', 'key:gone': null }]);
  await send('storesSoon', { reference });
  await storing(2);
  t.same(stored[1], values, 'what is stored later is of somebody met anew');
  session.close();
});

t.test('the contract crosses whole', async (t) => {
  const freed = join(folder, 'freed to parse');
  const driver = await make({ freed });
  t.teardown(() => driver.close());
  t.match(driver.capabilities, { recipients: 'address', linkMethods: ['name'] });
  t.equal(driver.identifier?.description, 'a name');
  t.equal(await parsed(driver, 'Ada'), 'ada');
  t.equal(await parsed(driver, 'a b'), null);
  t.equal(driver.address, undefined);

  const size = 3_000_000;
  const streams: Readable[] = [];
  const asked: OutboundMedia[] = [];
  const file: MediaFile = {
    ...{ kind: 'image', mimeType: 'image/png', fileName: 'a.png', size },
    stream() {
      const stream = Readable.from(Array.from({ length: 30 }, () => Buffer.alloc(size / 30)));
      streams.push(stream);
      return stream;
    },
  };
  const received: number[] = [];
  const events: unknown[] = [];
  const left: string[] = [];
  const port: Partial<Port> = {
    leftOut: (kind) => void left.push(kind),
    async fetchMedia(media) {
      asked.push(media);
      return file;
    },
    async emit(event) {
      events.push(event);
      const messages = event?.type === 'history' ? event.messages : [event];
      for (const message of messages) {
        const media = message !== null && 'media' in message ? message.media : null;
        const stream = await media?.open?.(new AbortController().signal);
        if (stream === undefined) continue;
        let size = 0;
        for await (const bytes of stream) size += bytes.length;
        received.push(size);
      }
      if (event === null) throw new TypeError('no event');
    },
  };
  const { session, send } = open(driver, 'ada', port);
  await session.resume();
  t.match(events, [{ type: 'state', state: 'connected' }]);
  const media = { url: 'https://example.com/a.png' };
  t.match(await send('reads', { media }), { networkId: `a.png ${size}` });
  t.ok(asked[0] === media, 'the file is asked for as the one of its send');
  t.ok(streams[0]?.destroyed, 'what is not read to its end is closed');
  await send('receives');
  t.same(received, [200_000, 200_000]);
  await t.rejects(send('emitsCode'), /no event|could not be cloned/);
  t.equal(events.at(-1), null, 'and counts as none');
  await t.rejects(send('answersCode'), /could not be cloned/);
  const refusal = { code: 'slow_down', certain: true, retryAfterMs: 7, concerns: 'contact' };
  await t.rejects(send('fails'), { message: 'try later', ...refusal });
  await send('logs');
  t.match(log.lines, [/said.*"n":1/, /an error as the facts/]);
  const stop = new AbortController();
  const waiting = send('waits', {}, stop.signal);
  await until('the driver to wait', async () => left[0]);
  stop.abort();
  await t.rejects(waiting, /given up/);
  await send('leavesRejected');
  await until('the fault', async () => faults[0]);
  t.match(faults.splice(0), [{ kind: 'unhandled', accountId: 'acc_ada', call: 'later' }]);
  t.equal(await session.logOut(), 'unlinked');
  session.close();
  await t.rejects(send('logs'), { code: 'not_connected', certain: true });

  await t.rejects(open(driver, 'half').session.resume(), /no session: logOut is no function/);
  const bad = open(driver, 'bad');
  await bad.session.resume();
  t.throws(() => bad.session.close(), /not a function/, 'what its close throws is thrown');
  t.throws(() => driver.identifier?.parse('slow'), /no answer to parse in 100 ms/);
  t.throws(() => driver.identifier?.parse('new'), /is late/, 'nor is it asked again');
  t.equal(driver.identifier?.parse('ada'), 'ada', 'what was parsed before is known meanwhile');
  writeFileSync(freed, '');
  t.equal(await parsed(driver, 'BEN'), 'ben', 'after a sign of life');
  t.equal(await parsed(driver, 'CID'), 'cid', 'answers that come too late are left out');
});

t.test('a file lives until its signal aborts or its send has settled', async (t) => {
  const driver = await make();
  t.teardown(() => driver.close());
  const signals: AbortSignal[] = [];
  const media = { url: 'https://example.com/a.png' };
  const file: MediaFile = {
    ...{ kind: 'image', mimeType: 'image/png', fileName: 'a.png', size: 1 },
    stream: () => Readable.from([Buffer.alloc(1)]),
  };
  const port: Partial<Port> = {
    // As much of a message as is read.
    sentMessage: async () => ({ media }) as OutboundMessage,
    async fetchMedia(_, signal) {
      signals.push(signal);
      return file;
    },
  };
  const { session, send } = open(driver, 'ada', port);
  /** Whether each file has been released so far. */
  const released = () => signals.map(({ aborted }) => aborted);
  const over = /the session is over/;
  await session.resume();
  await send('fetchesAgain');
  await send('readsKept');
  t.same(released(), [false]);
  await send('stops');
  await t.rejects(send('readsKept'), over);
  t.same(released(), [true], 'its signal has aborted');
  await send('fetchesCopy', { media });
  await t.rejects(send('readsKept'), over, 'the send of a copy has settled');
  await send('fetchesAgain');
  const other = open(driver, 'ben', port);
  await other.session.resume();
  await other.send('fetchesAgain');
  session.close();
  t.same(released(), [true, false, true, false], 'with its session alone');
  await t.rejects(other.send('throwsLater'), { code: 'driver_failed' });
  t.same(released(), [true, false, true, true], 'with its thread');
  t.equal(faults.splice(0).length, 1);
});

t.test('what is left rejected later is a fault of its account, too', async (t) => {
  const driver = await make();
  t.teardown(() => driver.close());
  const seen = async (count: number) =>
    await until('the faults', async () => faults.length === count || undefined);
  const { session, send } = open(driver, 'ada', {
    async emit(event) {
      const media = event.type === 'message' ? event.media : null;
      const stream = await media?.open?.(new AbortController().signal);
      stream?.on('error', () => undefined).read();
    },
  });
  await session.resume();
  const over = new AbortController();
  void send('leavesRejectedLater', {}, over.signal).catch(() => undefined);
  await seen(2);
  over.abort();
  await seen(3);
  session.close();
  for (const error of ['while it opens', 'while it is read', 'at the abort']) {
    t.match(faults.shift(), { accountId: 'acc_ada', kind: 'unhandled', error: { message: error } });
  }
});

t.test('what a listener of an abort throws is a fault of its account, too', async (t) => {
  const driver = await make();
  t.teardown(() => driver.close());
  let isOpened = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    isOpened = resolve;
  });
  const opening = new AbortController();
  const ada = open(driver, 'ada', {
    async emit(event) {
      const media = event.type === 'message' ? event.media : null;
      if (media?.open === undefined) return;
      isOpened();
      await media.open(opening.signal);
    },
    leftOut: () => isOpened(),
  });
  const ben = open(driver, 'ben');
  await Promise.all([ada.session.resume(), ben.session.resume()]);
  const over = new AbortController();
  const sending = ada.send('throwsAtAbort', {}, over.signal);
  sending.catch(() => undefined);
  await opened;
  over.abort();
  opening.abort();
  await until('the faults', async () => faults.length === 3 || undefined);
  const texts = ['at the abort of another signal', 'at the abort', 'at the abort of a file'];
  const found = faults.splice(0);
  t.match(
    found,
    texts.map(() => ({ accountId: 'acc_ada', kind: 'unhandled', call: 'later' })),
  );
  t.same(found.map(({ error }) => (error as Error).message).sort(), texts.sort());
  await ben.send('logs');
  await ada.send('logs');
  t.equal(ben.events.length, 1, 'the thread goes on');

  const again = new AbortController();
  const called = new Promise<void>((resolve) => {
    isOpened = resolve;
  });
  const ending = ada.send('throwsAfterAbort', {}, again.signal);
  await called;
  again.abort();
  await t.rejects(ending, { code: 'driver_failed' }, 'what is thrown later ends it');
  t.match(faults.splice(0), [{ accountId: null, error: { message: /not a function/ } }]);
});

t.test('what will not do is refused at the start', async (t) => {
  await t.rejects(make({ fails: true }), /not today/);
  await t.rejects(make({ code: true }), /could not be cloned/);
  t.same(faults, []);
});

t.test('a thread that fails is started anew, its sends uncertain', async (t) => {
  const deeds = [
    ['throwsLater', /thrown later/],
    ['leaksEntries', /more than its 64 MiB of memory/],
    ['leaksBuffers', /more than its 64 MiB of memory/],
  ] as const;
  const failing = deeds.map(async ([deed, error]) => {
    const driver = await make();
    const [ada, ben, idle] = [open(driver), open(driver, 'ben'), open(driver, 'idle')];
    await Promise.all([ada.session.resume(), ben.session.resume()]);
    const uncertain = { code: 'driver_failed', certain: false };
    await t.rejects(ada.send(deed), uncertain, deed);
    for (const { events, session } of [ada, ben]) {
      const lost = {
        state: 'lost',
        reason: 'driver_failed',
        detail: /The driver of mail failed/,
      };
      t.match(events.splice(0), [{ state: 'connected' }, lost], deed);
      await session.resume();
      t.match(events.splice(0), [{ ...lost, retryAt: Number }], 'nor is it there at once');
    }
    t.same(idle.events, []);
    t.match(
      faults.find(({ error: found }) => error.test(String(found))),
      { kind: 'unhandled' },
      deed,
    );
    await until('the new thread', async () => {
      await ben.session.resume();
      return ben.events.find((event) => 'state' in event && event.state === 'connected');
    });
    await ben.send('logs');
    await driver.close();
  });
  await Promise.all(failing);
  t.equal(faults.splice(0).length, deeds.length);
});

t.test('a file of a thread that ends meanwhile comes again with its message', async (t) => {
  for (const reference of ['opened', 'not opened']) {
    const driver = await make();
    let reading: Promise<unknown> = Promise.resolve();
    const read = async (event: DriverEvent): Promise<void> => {
      const open = event.type === 'message' ? event.media?.open : undefined;
      for await (const _ of (await open?.(new AbortController().signal)) ?? []);
    };
    const { session, send } = open(driver, 'ada', {
      async emit(event) {
        if (event.type === 'message') reading = t.rejects(read(event), again, reference);
        await reading;
      },
    });
    const again = { code: 'not_connected', certain: true, retryAfterMs: 0 };
    await session.resume();
    await t.rejects(send('breaksOff', { reference }), { code: 'driver_failed' });
    await reading;
    await driver.close();
  }
  t.equal(faults.splice(0).length, 2);
});

t.test('a slow moment of the driver ends no session but the one that closes', async (t) => {
  const freed = join(folder, 'freed to close');
  const driver = await make({ freed });
  t.teardown(() => driver.close());
  const [ada, ben] = [open(driver), open(driver, 'ben')];
  await Promise.all([ada.session.resume(), ben.session.resume()]);
  t.throws(() => driver.identifier?.parse('slow'), /no answer/);
  // As where the process has no processor: the driver is free when this thread goes on.
  const waits = t.capture(Atomics, 'wait', () => {
    waits.restore();
    block(1_000);
    writeFileSync(freed, '');
    return 'timed-out';
  });
  ada.session.close();
  await ben.send('logs');
  t.match(ben.events, [{ state: 'connected' }]);
  t.equal(ben.events.length, 1);
  t.same(faults, []);
});

t.test('nothing is written past the lease while the gateway is blocked', async (t) => {
  const deadline = new SharedDeadline();
  const driver = await make({}, deadline);
  t.teardown(() => driver.close());
  const { session, events, send } = open(driver);
  const away = open(driver, 'away');
  await Promise.all([session.resume(), away.session.resume()]);
  await away.send('loses');
  const written = join(folder, 'written until the deadline');
  const moments = async () =>
    (await readFile(written, 'utf8').catch(() => '')).split('\n').filter(Boolean).map(BigInt);
  void send('writesOn', { reference: written }).catch(() => undefined);
  await until('the driver to write', async () => (await moments())[0]);
  deadline.setIn(500);
  const end = deadline.memory[0] ?? 0n;
  block(1_500);
  const passed = process.hrtime.bigint();
  const seen = await moments();
  const [last = 0n] = seen.slice(-1);
  t.ok(last < end + (passed - end) / 2n, `the last byte ${Number(last - end) / 1e6} ms after it`);
  await t.rejects(send('logs'), { code: 'not_connected', certain: true });
  const lost = { state: 'lost', reason: 'network_unreachable' };
  t.match(events, [{ state: 'connected' }, lost]);
  await t.rejects(away.send('logs'), { code: 'not_connected' });
  t.equal(away.events.length, 2, 'the moment that the network has named is kept');
  t.match(away.events, [{ state: 'connected' }, { reason: 'rate_limited', retryAt: 7 }]);
  await session.resume();
  t.match(events.slice(2), [lost], 'nor does it begin anything');
  t.equal(await session.logOut(), 'still_linked');
  deadline.setIn(Number.POSITIVE_INFINITY);
  await t.rejects(send('logs'), { code: 'not_connected' });
  await session.resume();
  t.match(events.slice(3), [{ state: 'connected' }]);
  await send('logs');
  t.equal((await moments()).length, seen.length);
  session.close();
});

t.test('a session is closed even where its driver never comes back', async (t) => {
  const driver = await make();
  t.teardown(() => driver.close());
  const [ada, ben] = [open(driver), open(driver, 'ben')];
  await Promise.all([ada.session.resume(), ben.session.resume()]);
  const written = join(folder, 'written');
  const uncertain = { code: 'driver_failed', certain: false };
  const rejected = t.rejects(ada.send('writesForEver', { reference: written }), uncertain);
  const size = async () => (await readFile(written, 'utf8').catch(() => '')).length;
  await until('the driver to write', async () => (await size()) || undefined);
  const waitedMs = [1, 2, 3].map(() => {
    const begunAt = performance.now();
    for (let turn = 0; turn < 35; turn += 1) block(10);
    return performance.now() - begunAt;
  });
  const before = performance.now();
  ada.session.close();
  const tookMs = performance.now() - before;
  const closed = await size();
  await rejected;
  const mostMs = 1_000 + Math.max(...waitedMs);
  t.ok(tookMs < mostMs, `after ${tookMs.toFixed()} ms, at most ${mostMs.toFixed()}`);
  await sleep(50);
  t.equal(await size(), closed, 'not a byte goes out after it');
  t.match(faults.splice(0), [{ kind: 'stalled', call: 'thread' }]);
  const lost = { state: 'lost', reason: 'stalled', detail: /mail blocked the thread/ };
  t.match(ben.events, [{ state: 'connected' }, lost]);
  t.equal(ada.events.length, 1, 'a closed session says nothing');
});
