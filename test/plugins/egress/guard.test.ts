import { createServer as createHttpServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import type { buildConnector } from 'undici';
import { isPublicAddress } from '../../../plugins/egress/addresses.ts';
import { makeConnector } from '../../../plugins/egress/connector.ts';
import type { TargetRules } from '../../../plugins/egress/target.ts';
import { type Listener, listen, listenOnly, openEgress } from './world.ts';

const strict: TargetRules = { allowHttp: false, isAllowed: isPublicAddress };
const open: TargetRules = { allowHttp: true, isAllowed: () => true };
const times = { timeoutMs: 2_000, connectTimeoutMs: 1_000 };
const sending = { headers: {}, body: '{}', ...times };

const publicAddresses = [
  '1.1.1.1',
  '8.8.8.8',
  '93.184.216.34',
  '100.63.255.255',
  '100.128.0.1',
  '168.63.129.15',
  '172.15.255.255',
  '172.32.0.1',
  '192.0.1.1',
  '198.17.255.255',
  '198.20.0.1',
  '223.255.255.254',
  '2606:4700:4700::1111',
  '2a00:1450:4001:80b::200e',
  '2001:4860:4860::8888',
];

/** One or more of every kind, first and last of the ranges where that is telling. */
const forbiddenAddresses = [
  ...['0.0.0.0', '0.1.2.3', '10.0.0.1', '10.255.255.255', '100.64.0.1', '100.127.255.255'],
  ...['127.0.0.1', '127.255.255.254', '169.254.0.1', '169.254.169.254', '169.254.170.2'],
  ...['172.16.0.1', '172.31.255.255', '192.168.0.1', '192.168.255.255'],
  ...['192.0.0.1', '192.0.0.192', '192.0.2.1', '198.51.100.7', '203.0.113.9'],
  ...['192.88.99.1', '198.18.0.1', '198.19.255.255', '192.31.196.1', '192.52.193.1'],
  ...['224.0.0.1', '239.255.255.250', '240.0.0.1', '255.255.255.255'],
  ...['168.63.129.16', '100.100.100.200', '161.26.0.10', '166.9.0.1', '199.36.153.8'],
  ...['::', '::1', '::127.0.0.1', '::8.8.8.8', '::ffff:127.0.0.1', '::ffff:8.8.8.8'],
  ...['::ffff:0:8.8.8.8', '64:ff9b::7f00:1', '64:ff9b::8.8.8.8', '64:ff9b:1::1', '100::1'],
  ...['2001::1', '2001:0:4136:e378:8000:63bf:3fff:fdd2', '2001:2::1', '2001:10::1'],
  ...['2001:20::1', '2001:db8::1', '3fff::1', '2002:7f00:1::', '2002:808:808::1', '5f00::1'],
  ...['4000::1', '8000::1', 'fc00::1', 'fd00:ec2::254', 'fdff::1', 'fe80::1', 'fe80::1%eth0'],
  ...['fec0::1', 'ff02::1', 'ff0e::1'],
];

t.test('addresses', async (t) => {
  for (const address of publicAddresses) t.ok(isPublicAddress(address), address);
  for (const address of forbiddenAddresses) t.notOk(isPublicAddress(address), address);
  for (const text of ['', 'localhost', '1.1.1.1.1', '1.1.1.256', '[::1]', '::g', '1.1.1.1/8']) {
    t.notOk(isPublicAddress(text), text);
  }
});

/** Names as an attacker's name server answers them. */
const names: Readonly<Record<string, readonly string[]>> = {
  'loopback.test': ['127.0.0.1'],
  'loopback6.test': ['::1'],
  localhost: ['127.0.0.1', '::1'],
  'private.test': ['10.1.2.3'],
  'metadata.test': ['169.254.169.254'],
  'azure.test': ['168.63.129.16'],
  'mapped.test': ['::ffff:127.0.0.1'],
  'nat64.test': ['64:ff9b::7f00:1'],
  '6to4.test': ['2002:7f00:1::1'],
  'unspecified.test': ['0.0.0.0'],
  'mixed.test': ['93.184.216.34', '127.0.0.1'],
  'mixed-first.test': ['127.0.0.1', '93.184.216.34'],
  'mixed6.test': ['2606:4700:4700::1111', '::1'],
  'nonsense.test': ['not an address'],
  'xn--74h.test': ['127.0.0.1'],
};

/** URLs that go to loopback or somewhere near in a notation of their own, PORT being where we listen. */
const forbiddenUrls = [
  ...['127.0.0.1', '127.1', '127.0.1', '127.0.0.1.', '2130706433', '2130706433.', '017700000001'],
  ...['0x7f000001', '0x7f.1', '0x7f.0x0.0x0.0x1', '0177.0.0.1', '0177.0.0.01', '0', '0x0', '00'],
  ...['%31%32%37.0.0.1', '１２７.0.0.1', '127。0。0。1', '①②⑦.1', '127.0.0.1%2e', '0.0.0.0'],
  ...['[::1]', '[0:0:0:0:0:0:0:1]', '[0000::0001]', '[::]', '[::127.0.0.1]', '[::ffff:127.0.0.1]'],
  ...['[::ffff:7f00:1]', '[0:0:0:0:0:ffff:7f00:1]', '[64:ff9b::127.0.0.1]', '[2002:7f00:1::]'],
  ...['0xa9fea9fe', '2852039166', '0251.0376.0251.0376', '169.254.43518', '[::ffff:a9fe:a9fe]'],
  ...['[fd00:ec2::254]', '10.1', '0xa000001', '192.168.1', '100.6553800', '168.63.33040'],
  ...['3232235777', '[fe80::1]', '[fec0::1]', 'localhost.', 'loopback.test.', 'LOOPBACK.test'],
  ...['LocalHost', 'loopback%2Etest', '☺.test', ...Object.keys(names)],
  ...['user@loopback.test', 'user:password@loopback.test', ':password@loopback.test'],
  ...['user:password@public.test', 'public.test@127.0.0.1', 'public.test:443@loopback.test'],
  ...['public.test.'],
].map((host) => `https://${host}:PORT/hook`);

const otherUrls = [
  ...['http://public.test:PORT/', 'http://127.0.0.1:PORT/', 'HTTP://loopback.test:PORT/'],
  ...['ftp://127.0.0.1:PORT/', 'ws://127.0.0.1:PORT/', 'wss://127.0.0.1:PORT/'],
  ...['file:///etc/passwd', 'data:text/plain,x', 'javascript:alert(1)', 'gopher://127.0.0.1:PORT/'],
  ...['', ' ', 'https://', 'https:', 'https://:PORT/', '//127.0.0.1:PORT/', '127.0.0.1:PORT'],
  ...['https://[::1', 'https://[fe80::1%25lo]:PORT/', 'https://a b/', 'https:127.0.0.1:PORT'],
  ...['https:\\\\127.0.0.1:PORT\\', ' https://127.0.0.1:PORT ', 'https://127.0.0.1:99999/'],
  // A public host, written with blanks that `URL` would leave out.
  ...[' https://public.test:PORT/', 'https://public.test:PORT/\n', 'https://public.test:PORT/a\tb'],
];

async function lookUp(name: string): Promise<readonly string[]> {
  return names[name] ?? ['93.184.216.34'];
}

/** Listens on one port of both loopback addresses. */
async function listenOnBoth(t: Test): Promise<readonly [Listener, Listener]> {
  const four = await listenOnly(t);
  return [four, await listenOnly(t, '::1', four.port)];
}

t.test('every forbidden target is refused, and nothing connects', async (t) => {
  const [four, six] = await listenOnBoth(t);
  const egress = openEgress(t, strict, lookUp);
  const urls = [
    ...forbiddenUrls,
    ...otherUrls,
    ...forbiddenAddresses
      .filter((address) => !address.includes('%'))
      .map((address) => `https://${address.includes(':') ? `[${address}]` : address}:PORT/`),
  ].map((url) => url.replaceAll('PORT', String(four.port)));
  t.comment(`${urls.length} targets`);
  for (const url of urls) {
    t.match(
      await egress.refusal(url),
      { kind: 'blocked', message: String },
      `${url} is refused before`,
    );
    const posted = await egress.post({ url, ...sending });
    t.match(posted, { answered: false, failure: { kind: 'blocked' } }, `${url} gets no POST`);
    const got = await egress.get({ url, ...times });
    t.match(got, { answered: false, failure: { kind: 'blocked' } }, `${url} gets no GET`);
    t.notMatch(JSON.stringify(posted), /\d+\.\d+\.\d+\.\d+|::/, 'no address is told');
  }
  t.same([four.connections(), six.connections()], [0, 0]);

  const careless = openEgress(t, open, lookUp);
  for (const [from, schemes] of [
    [egress, 'https://'],
    [careless, 'http:// or https://'],
  ] as const) {
    const message = `The address must begin with ${schemes}.`;
    t.match(await from.refusal('ftp://public.test/'), { message });
  }
  for (const host of ['127.1', '[::1]', 'loopback.test', 'loopback6.test', 'mixed-first.test']) {
    const url = `http://${host}:${four.port}/`;
    t.equal(await careless.refusal(url), null);
    await careless.post({ url, ...sending, timeoutMs: 100 });
  }
  t.ok(four.connections() >= 3 && six.connections() >= 2, 'the listeners do count');
});

t.test('a name that changes', async (t) => {
  const [four, six] = await listenOnBoth(t);
  for (const [changed, lookups] of [
    [['127.0.0.1'], 2],
    [['::1'], 2],
    [['93.184.216.34', '127.0.0.1'], 2],
    [['::ffff:127.0.0.1'], 2],
  ] as const) {
    let looks = 0;
    const egress = openEgress(t, strict, async () => {
      looks += 1;
      return looks === 1 ? ['93.184.216.34'] : changed;
    });
    const url = `https://changing.test:${four.port}/`;
    t.equal(await egress.refusal(url), null, 'public when it is checked');
    const posted = await egress.post({ url, ...sending });
    t.match(posted, { answered: false, failure: { kind: 'blocked' } });
    t.equal(
      looks,
      lookups,
      'what is connected to is what the second lookup answered and was checked',
    );
  }
  t.same([four.connections(), six.connections()], [0, 0]);
});

t.test('the address of the socket is checked before a byte is sent', async (t) => {
  for (const protocol of ['http:', 'https:']) {
    const listener = await listenOnly(t);
    let checks = 0;
    const isAllowed = (): boolean => {
      checks += 1;
      return checks === 1;
    };
    const rules: TargetRules = { allowHttp: true, isAllowed };
    const settings = { rules, connectTimeoutMs: 1_000 };
    const connect = makeConnector({ ...settings, lookUp: async () => ['127.0.0.1'] });
    const target: buildConnector.Options = {
      hostname: 'changing.test',
      protocol,
      port: String(listener.port),
    };
    const error = await new Promise<unknown>((resolve) => {
      connect(target, (...[failure]) => resolve(failure));
    });
    t.match(error, { cause: { kind: 'blocked' } });
    while (listener.connections() === 0 || listener.open() > 0) await sleep(5);
    t.same([checks, listener.connections(), listener.bytes()], [2, 1, 0], protocol);
  }
});

t.test('redirects of a file are guarded, each', async (t) => {
  const [, six] = await listenOnBoth(t);
  const secret = await listenOnly(t, '127.0.0.2');
  const server = createHttpServer((request, response) => {
    const to = new URL(request.url ?? '/', 'http://here.test').searchParams.get('to');
    if (to === null) response.end('the file');
    else response.writeHead(302, { location: to }).end('moved');
  });
  const first = await listen(t, server);
  const base = `http://127.0.0.1:${first.port}/`;
  const mostly: TargetRules = {
    allowHttp: true,
    isAllowed: (address) => address === '127.0.0.1' || isPublicAddress(address),
  };
  const egress = openEgress(t, mostly, async (name) =>
    name === 'secret.test' ? ['127.0.0.2'] : ['127.0.0.1'],
  );
  const through = (hops: number, to: string): string =>
    hops === 0 ? to : `${base}?to=${encodeURIComponent(through(hops - 1, to))}`;

  for (const to of [
    ...[`http://127.0.0.2:${secret.port}/`, `http://secret.test:${secret.port}/`],
    ...[`http://[::1]:${six.port}/`, `//127.2:${secret.port}/`, 'http://169.254.169.254/latest'],
    ...['http://user:password@127.0.0.1/', 'file:///etc/passwd', 'ftp://127.0.0.1/', 'http://'],
  ]) {
    for (const hops of [1, 3]) {
      const outcome = await egress.get({ url: through(hops, to), ...times });
      t.match(outcome, { answered: false, failure: { kind: 'blocked' } }, `${hops} × → ${to}`);
    }
  }
  t.same([secret.connections(), six.connections()], [0, 0]);

  for (const hops of [0, 1, 3]) {
    const outcome = await egress.get({ url: through(hops, `${base}file`), ...times });
    if (!outcome.answered) throw new Error(outcome.failure.message);
    t.equal(Buffer.concat(await outcome.answer.body.toArray()).toString(), 'the file');
  }
  const tooFar = await egress.get({ url: through(4, base), ...times });
  t.match(tooFar, { answered: false, failure: { kind: 'connection', message: /redirects/ } });
  const posted = await egress.post({ url: through(1, base), ...sending });
  t.match(
    posted,
    { answered: true, answer: { status: 302, text: 'moved' } },
    'a POST follows none',
  );
});

t.test('refusals by name', async (t) => {
  const egress = openEgress(t, strict, async (name) => {
    if (name === 'slow.test') return new Promise(() => undefined);
    if (name === 'empty.test') return [];
    if (name === 'gone.test') throw Object.assign(new Error('no'), { code: 'ENOTFOUND' });
    if (name === 'unclear.test') throw Object.assign(new Error('no'), { code: 'EAI_AGAIN' });
    if (name === 'inside.test') return ['10.0.0.1'];
    return ['93.184.216.34'];
  });
  t.equal(await egress.refusal('https://public.test/hook?x=1#y'), null);
  for (const [name, mayPass] of [
    ['slow', true],
    ['unclear', true],
    ['gone', undefined],
    ['empty', undefined],
    ['inside', undefined],
  ] as const) {
    t.equal((await egress.refusal(`https://${name}.test/`))?.mayPass, mayPass, name);
  }
  t.equal(await egress.refusal('https://1.1.1.1:8443/'), null);
  t.match(await egress.refusal('https://gone.test/'), { kind: 'connection', message: /looked up/ });
  t.match(await egress.refusal('https://empty.test/'), {
    kind: 'connection',
    message: /no address/,
  });
  t.match(await egress.refusal('https://slow.test/'), { kind: 'timeout', message: /in time/ });
  const gone = await egress.post({ url: 'https://gone.test/', ...sending });
  t.match(gone, { failure: { kind: 'connection', message: 'The host could not be looked up.' } });
  const slow = await egress.post({ url: 'https://slow.test/', ...sending, connectTimeoutMs: 50 });
  t.match(slow, { failure: { kind: 'timeout' } });
});
