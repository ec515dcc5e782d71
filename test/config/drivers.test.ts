import { Readable } from 'node:stream';
import { mock } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import t from 'tap';
import { ContainedDriver } from '../../config/contained-driver.ts';
import { driverAtWork } from '../../config/driver-context.ts';
import { makeChannelDrivers } from '../../config/drivers.ts';
import { StallWatch } from '../../config/stall-watch.ts';
import type {
  Driver,
  DriverAccount,
  HistoryMessage,
  MessageEvent,
  OutboundMessage,
  Port,
  Session,
} from '../../core/contracts/driver.ts';
import type { DriverFault } from '../../core/contracts/driver-faults.ts';
import type { GatewayLog } from '../../core/log.ts';
import { SharedDeadline } from '../../core/shared-deadline.ts';

const nothing = { api_id: null, api_hash: null, data_center: null, server_public_key: null };
const msgapp_web = { websocket_url: null, root_public_key: null, web_version: null };

/** What is made, and what is said about it. */
async function make(
  chatapp: typeof nothing | object,
  channels: object,
  folder = '.',
  makingMs?: number,
) {
  const lines: string[] = [];
  const say = (level: string) => (facts: object, message: string) => {
    lines.push(`${level}: ${message} ${JSON.stringify(facts)}`);
  };
  const log = { info: say('info'), error: say('error'), child: () => log };
  const config = { channels, drivers: { chatapp: { ...nothing, ...chatapp }, msgapp_web } };
  // As much of a log, and of a configuration, as is looked at.
  const drivers = await makeChannelDrivers(config as never, {
    log: log as unknown as GatewayLog,
    folder,
    dataDir,
    count: () => undefined,
    faults: { report: () => undefined },
    deadline: new SharedDeadline(),
    contain: (_, driver) => driver,
    ...(makingMs === undefined ? {} : { makingMs }),
  });
  return { names: [...drivers.keys()], lines, drivers };
}

const dataDir = t.testdir({});

t.test('each channel gets its driver or stays off', async (t) => {
  const channels = { chatapp: { driver: 'chatapp', options: {} } };
  const complete = { api_id: 1, api_hash: 'a secret' };
  t.match(await make(complete, channels), { names: ['chatapp'], lines: { length: 0 } });

  const absent = await make({}, channels);
  t.same(absent.names, []);
  t.match(absent.lines, [/^info: .*my\.telegram\.org/], 'the usual case is no alarm');

  const wrong = await make({ ...complete, server_public_key: 'nonsense' }, channels);
  t.same(wrong.names, []);
  t.match(wrong.lines, [/^error: .*server_public_key/]);
  t.notMatch(wrong.lines[0], /a secret/);

  const others = { elsewhere: { driver: 'unknown', options: {} }, ...channels };
  t.same((await make(complete, others)).names, ['chatapp'], 'one failure is its own');
  const own = { second: { driver: 'chatapp', options: complete }, ...channels };
  t.same((await make({}, own)).names, ['second'], "a channel's options come before the driver's");
});

t.test('a driver from a package in the working directory', async (t) => {
  const capabilities = `{ deduplicates: true, receipts: 'read', recipients: 'contacts',
    linkMethods: ['password'], imports: { contacts: true, history: false }, media: true }`;
  const schema = `{ type: 'object', properties: { host: { type: 'string' }, port: { type: 'integer', default: 5222 },
    tls: { enum: ['on', 'off'] } }, required: ['host'], additionalProperties: false }`;
  const driver = `{ capabilities: ${capabilities}, open() {} }`;
  const packages: Readonly<Record<string, string>> = {
    right: `export default ({ options }) => ({ ...${driver}, options })`,
    schema: `const make = ({ options }) => ({ ...${driver}, options });
      make.optionsSchema = ${schema}; export default make;`,
    throws: `throw new Error('cannot be loaded');`,
    unnamed: `export const make = () => (${driver});`,
    refuses: `export default async () => { throw new Error('not today'); }`,
    nothing: 'export default () => undefined',
    closed: `export default () => ({ capabilities: ${capabilities} })`,
    unlinked: `export default () => ({ ...${driver},
      capabilities: { ...${capabilities}, linkMethods: [] } })`,
    misspelt: `export default () => ({ ...${driver},
      capabilities: { ...${capabilities}, maxTxt: 5 } })`,
    imports: `export default () => ({ ...${driver},
      capabilities: { ...${capabilities}, imports: { contacts: true, history: false, media: true } } })`,
    nameless: `export default () => ({ ...${driver}, identifier: {} })`,
  };
  const folder = t.testdir({
    'own.js': 'export default 5',
    node_modules: Object.fromEntries(
      Object.entries(packages).map(([name, source]) => {
        const exports = { '.': { import: './main.js' } };
        return [
          `driver-${name}`,
          {
            'package.json': JSON.stringify({ name, type: 'module', exports }),
            'main.js': source,
          },
        ];
      }),
    ),
  });
  const one = async (driver: string, options: object = {}) => {
    const made = await make({}, { mail: { driver, options } }, folder);
    return { ...made, options: (made.drivers.get('mail') as { options?: object })?.options };
  };
  t.match(await one('driver-right', { any: 'thing' }), { names: ['mail'], lines: { length: 0 } });
  t.strictSame((await one('driver-schema', { host: 'h' })).options, { host: 'h', port: 5222 });
  const off: [string, object, RegExp][] = [
    ['driver-schema', {}, /channels\.mail\.options\.host is missing/],
    ['driver-schema', { host: 'h', port: 'secret' }, /options\.port must be integer/],
    ['driver-schema', { host: 'h', prot: 'secret' }, /options\.prot is no option/],
    ['driver-schema', { host: 'h', tls: 'secret' }, /options\.tls must be one of on, off/],
    ['driver-throws', {}, /cannot be loaded/],
    ['driver-unnamed', {}, /must export a driver factory/],
    ['driver-refuses', {}, /not today/],
    ['driver-nothing', {}, /it is no object/],
    ['driver-closed', {}, /open is no function/],
    ['driver-unlinked', {}, /capabilities\.linkMethods must NOT have fewer/],
    ['driver-misspelt', {}, /capabilities\.maxTxt is no capability that this gateway knows/],
    ['driver-imports', {}, /capabilities\.imports\.media is no capability/],
    ['driver-nameless', {}, /identifier needs/],
    ['driver-absent', {}, /Cannot find package/],
    ['./own.js', {}, /must export a driver factory/],
  ];
  for (const [driver, options, reason] of off) {
    const { names, lines } = await one(driver, options);
    t.same(names, [], driver);
    t.match(lines, [/^error: the channel is off/]);
    t.match(lines[0], reason);
    t.notMatch(lines[0], /secret/);
  }
});

t.test('drivers that hang hold up the start together, no longer than one of them', async (t) => {
  const driver = `{ capabilities: { deduplicates: true, receipts: 'read', recipients: 'contacts',
    linkMethods: ['password'], imports: { contacts: true, history: false }, media: true }, open() {} }`;
  const folder = t.testdir({
    'hangs.mjs': 'export default () => new Promise(() => undefined)',
    'loads.mjs': 'await new Promise(() => undefined); export default () => undefined',
    'slow.mjs': `export default () => new Promise((made) => setTimeout(made, 300, ${driver}))`,
  });
  const channel = (name: string) => ({ driver: `./${name}.mjs`, options: {} });
  const channels = {
    first: channel('hangs'),
    second: channel('loads'),
    third: channel('hangs'),
    mail: channel('slow'),
  };
  // A module that waits for nothing keeps no process alive.
  const alive = setInterval(() => undefined, 1_000);
  t.teardown(() => clearInterval(alive));
  const before = performance.now();
  const { names, lines } = await make({}, channels, folder, 3_000);
  const tookMs = performance.now() - before;
  t.ok(tookMs < 2 * 3_000, `all were waited for together: ${tookMs.toFixed()} ms`);
  t.same(names, ['mail'], 'one that is there in time is not left out');
  t.equal(lines.length, 3);
  for (const name of ['first', 'second', 'third']) {
    const named = lines.find((line) => line.includes(`channels.${name}.driver`));
    t.match(named, /^error: the channel is off.*did not make its driver within 3 s/, name);
  }
});

t.test('the containment of a driver from outside', async (t) => {
  // The times of the containment keep no process alive.
  const alive = setInterval(() => undefined, 1_000);
  t.teardown(() => clearInterval(alive));
  const faults: DriverFault[] = [];
  const never = () => new Promise<never>(() => undefined);
  const places: unknown[] = [];
  const forgotten: string[] = [];
  // As much of a port as is called.
  const port = { emit: async () => void places.push(driverAtWork()), credentials: {} };
  const session: Session = {
    link: never,
    resume: async () => undefined,
    answer: never,
    send: async () => {
      places.push(driverAtWork());
      return { networkId: 'n', at: 5 };
    },
    logOut: async () => 'unlinked',
    forget: (names) => void forgotten.push(...names),
    close: () => undefined,
  };
  // Capabilities are handed through, and not looked at.
  const inner: Driver = {
    capabilities: {} as Driver['capabilities'],
    // Null is what code from outside may answer.
    credentialsOf: async ({ networkId }, _, erasedAt) =>
      networkId === null ? (null as unknown as string[]) : [`keys of ${networkId}, ${erasedAt}`],
    open(_, given) {
      void given.emit({ type: 'state', state: 'connected' });
      return session;
    },
    close: async () => {
      throw new Error('cannot close');
    },
  };
  const report = (fault: DriverFault) => faults.push(fault);
  const watch = new StallWatch({ report });
  const parts = { faults: { report }, watch, heldBack: 'Held back.', hangMs: 20 };
  const driver = new ContainedDriver('mail', inner, parts);
  const account: DriverAccount = {
    id: 'acc_1',
    tenantId: 'ten_1',
    channel: 'mail',
    identifier: 'ada@home',
  };
  const place = { channel: 'mail', accountId: 'acc_1' };
  const opened = driver.open(account, port as unknown as Port);
  await opened.send({} as OutboundMessage, new AbortController().signal);
  t.strictSame(
    places,
    [null, place],
    "the driver's code is known as its own, the gateway's is not",
  );
  t.equal(driverAtWork(), null);
  const request = { method: 'password', importContacts: false, importHistory: false };
  await t.rejects(opened.link(request), /did not come back/);
  t.match(faults.splice(0), [{ ...place, kind: 'hung', call: 'link' }]);
  const stored = { get: async () => ({}), names: async () => [] };
  const namesOf = async (networkId: string | null) =>
    await driver.credentialsOf?.({ phone: null, networkId }, stored, 7);
  t.same(await namesOf('ada'), ['keys of ada, 7']);
  await t.rejects(namesOf(null), /no list of names/);
  t.match(faults.splice(0), [{ channel: 'mail', kind: 'threw', call: 'credentialsOf' }]);
  opened.forget?.(['keys of ada']);
  t.same(forgotten, ['keys of ada']);
  const answering = opened.answer('password', 'x');
  const late = new Promise((resolve) => setTimeout(resolve, 60, 'late'));
  t.equal(await Promise.race([answering, late]), 'late', 'only its caller gives an answer up');
  t.match(faults.splice(0), [{ ...place, kind: 'hung', call: 'answer' }]);
  await driver.close();
  t.match(faults, [{ channel: 'mail', accountId: null, kind: 'threw', call: 'close' }]);
  // What a driver from outside may open in spite of its types.
  inner.open = () => ({ link() {} }) as unknown as Session;
  t.throws(
    () => driver.open(account, port as unknown as Port),
    /no session: answer is no function/,
  );
});

t.test('a driver has 3 s to close, and hangs after that', async (t) => {
  mock.timers.enable({ apis: ['setTimeout'] });
  t.teardown(() => mock.timers.reset());
  const faults: DriverFault[] = [];
  const report = (fault: DriverFault) => faults.push(fault);
  const parts = { faults: { report }, watch: new StallWatch({ report }), heldBack: 'Held back.' };
  // As much of a driver as is called.
  const inner = { capabilities: {}, close: () => new Promise(() => undefined) };
  const closing = new ContainedDriver('mail', inner as unknown as Driver, parts).close();
  mock.timers.tick(2_999);
  await turn();
  t.same(faults, []);
  mock.timers.tick(1);
  await closing;
  t.strictSame(faults, [{ channel: 'mail', accountId: null, kind: 'hung', call: 'close' }]);
});

t.test("a driver's listeners, media and streams run as its own", async (t) => {
  const places: Record<string, unknown> = {};
  const note = (name: string): void => {
    places[name] = driverAtWork();
  };
  const fetched: AbortSignal[] = [];
  const messages: Partial<MessageEvent>[] = [];
  // As much of a port as is called.
  const port = {
    emit: async (event: Partial<MessageEvent>) => void messages.push(event),
    fetchMedia: async (_: unknown, signal: AbortSignal) => void fetched.push(signal),
    credentials: {},
  } as unknown as Port;
  const media = {
    ...({ kind: 'image', mimeType: null, fileName: null, size: null, url: null } as const),
    async open(this: object, signal: AbortSignal) {
      note('open');
      t.equal(this, media, 'a method has its object');
      signal.addEventListener('abort', () => note('aborted open'));
      return new Readable({
        read: () => note('read'),
        destroy(error, done) {
          note('destroy');
          done(error);
        },
      });
    },
  };
  const never = new Promise<never>(() => undefined);
  const inner = {
    open: (_: unknown, given: Port): Partial<Session> => ({
      async send(message, signal) {
        signal.addEventListener('abort', () => note('aborted send'));
        await given.fetchMedia({ url: '' }, signal);
        // As much of an event as is read.
        const event = { networkId: message.reference, media };
        void given.emit({ ...event, type: 'message' } as MessageEvent);
        void given.emit({ type: 'history', messages: [event as HistoryMessage] });
        return message.text === 'hangs' ? await never : { networkId: 'n', at: 5 };
      },
      ...{ link: async () => undefined, resume: async () => undefined, close: () => undefined },
      ...{ answer: () => never, logOut: () => never },
    }),
  } as unknown as Driver;
  const report = (): void => undefined;
  const parts = { faults: { report }, watch: new StallWatch({ report }), heldBack: '' };
  const account = { id: 'acc_1', tenantId: 'ten_1', channel: 'mail', identifier: 'ada@home' };
  const session = new ContainedDriver('mail', inner, parts).open(account, port);
  const over = new AbortController();
  const send = (text: string) =>
    session.send({ text, reference: 'm' } as OutboundMessage, over.signal);
  await send('answers');
  over.abort();
  t.same(places, {}, 'a send that is over is not aborted');
  const again = new AbortController();
  void session.send({ text: 'hangs', reference: 'm' } as OutboundMessage, again.signal);
  await new Promise(setImmediate);
  again.abort();
  t.same(fetched, [over.signal, again.signal], "a file is bound to the gateway's signal");

  const [message, history] = messages as [MessageEvent, { messages: HistoryMessage[] }];
  for (const { media } of [message, ...history.messages]) {
    const given = new AbortController();
    const stream = await media?.open?.(given.signal);
    stream?.read();
    stream?.destroy();
    given.abort();
    const place = { channel: 'mail', accountId: 'acc_1' };
    const names = ['aborted send', 'open', 'read', 'destroy', 'aborted open'];
    t.strictSame(places, Object.fromEntries(names.map((name) => [name, place])));
    for (const name of names.slice(1)) delete places[name];
  }
});
