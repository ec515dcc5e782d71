import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { isPublicAddress } from '../../../plugins/egress/addresses.ts';
import type { LookUp } from '../../../plugins/egress/allowed-addresses.ts';
import { failureOf } from '../../../plugins/egress/failures.ts';
import { localAddresses, parseHosts } from '../../../plugins/egress/names/hosts.ts';
import { networkLookUp } from '../../../plugins/egress/names/look-up.ts';
import { parseSearch, searchedNames } from '../../../plugins/egress/names/search.ts';
import { type Answer, type NameServer, nameServer } from './name-server.ts';
import { httpReceiver } from './receivers.ts';
import { listen, listenOnly, openEgress } from './world.ts';

t.test('the hosts file', async (t) => {
  const hosts = parseHosts(
    [
      '# comment',
      '127.0.0.1\tlocalhost  Own.Example # not.this',
      '::1 localhost ip6-localhost\r',
      '  10.0.0.9   receiver receiver.internal',
      '10.0.0.9 receiver',
      'nonsense receiver',
      '10.0.0.10',
      '#10.0.0.11 receiver',
    ].join('\n'),
  );
  for (const [name, addresses] of [
    ['localhost', ['127.0.0.1', '::1']],
    ['own.example', ['127.0.0.1']],
    ['ip6-localhost', ['::1']],
    ['receiver', ['10.0.0.9']],
    ['receiver.internal', ['10.0.0.9']],
    ['a.localhost', ['127.0.0.1', '::1']],
    ['not.this', null],
    ['notlocalhost', null],
    ['localhost.example', null],
  ] as const) {
    t.same(localAddresses(name, hosts), addresses, name);
  }
  t.same(localAddresses('localhost', parseHosts('')), ['127.0.0.1', '::1'], 'without a line too');
  t.same(localAddresses('localhost', parseHosts('::1 localhost')), ['::1'], 'or as it says');
});

t.test('search domains', async (t) => {
  for (const [text, name, asked] of [
    ['', 'db', ['db']],
    ['nameserver 1.1.1.1\n# search no.test\n;search no.test', 'db', ['db']],
    ['search a.test b.test', 'db', ['db.a.test', 'db.b.test', 'db']],
    ['search a.test', 'x.db', ['x.db', 'x.db.a.test']],
    ['search a.test.\noptions edns0 ndots:3 rotate', 'x.db', ['x.db.a.test', 'x.db']],
    ['options ndots:2\nsearch a.test', 'x.y.db', ['x.y.db', 'x.y.db.a.test']],
    ['search a.test\noptions ndots:0', 'db', ['db', 'db.a.test']],
    ['search a.test\ndomain b.test', 'db', ['db.b.test', 'db']],
    ['search .', 'db', ['db']],
  ] as const) {
    t.same(searchedNames(name, parseSearch(text)), asked, `${JSON.stringify(text)} ${name}`);
  }
});

const zone: Readonly<Record<string, Answer>> = {
  'both.test': ['2606:4700:4700::1111', '93.184.216.34', '93.184.216.35'],
  'four.test': ['93.184.216.34'],
  'six.test': ['2606:4700:4700::1111'],
  'empty.test': [],
  'mixed.test': ['93.184.216.34', '::1'],
  'mapped.test': ['93.184.216.34', '::ffff:127.0.0.1'],
  'here.test': ['127.0.0.1'],
  'unclear.test': 2,
  'service.inner.test': ['10.0.0.7'],
};

interface Names {
  readonly lookUp: LookUp;
  readonly server: NameServer;
  hosts(text: string): Promise<void>;
}

/** Names under `silent.test` never get an answer, `AAAA` of `half.test` neither; unknown ones are not there. */
async function names(t: Test, timeoutMs: number, before: readonly string[] = []): Promise<Names> {
  const server = await nameServer(t, (name, type) => {
    if (name.endsWith('silent.test')) return 'silent';
    if (name === 'half.test') return type === 'A' ? ['93.184.216.34'] : 'silent';
    return zone[name] ?? 3;
  });
  const folder = await mkdtemp(join(tmpdir(), 'names-'));
  t.teardown(() => rm(folder, { recursive: true }));
  const [hostsPath, resolverPath] = [join(folder, 'hosts'), join(folder, 'resolv.conf')];
  await writeFile(resolverPath, 'search inner.test\n');
  const servers = [...before, server.address];
  const files = { hostsPath, resolverPath, freshMs: 20 };
  const lookUp = networkLookUp({ timeoutMs, servers, ...files });
  return { lookUp, server, hosts: (text) => writeFile(hostsPath, text) };
}

t.test('answers and failures', async (t) => {
  const { lookUp, server, hosts } = await names(t, 3_000);
  t.same(
    await lookUp('both.test'),
    ['93.184.216.34', '93.184.216.35', '2606:4700:4700::1111'],
    'all of both families',
  );
  t.same(await lookUp('four.test'), ['93.184.216.34'], 'no IPv6 is fine');
  t.same(await lookUp('six.test'), ['2606:4700:4700::1111'], 'no IPv4 is fine');
  t.same(await lookUp('half.test'), ['93.184.216.34'], 'nor a family that is not answered');

  const unheard = { kind: 'connection', message: 'The host could not be looked up.' };
  for (const [name, code, failure] of [
    ['gone.test', 'ENOTFOUND', unheard],
    ['empty.test', 'ENOTFOUND', unheard],
    [`${'x'.repeat(64)}.test`, 'ENOTFOUND', unheard],
    ['unclear.test', 'EAI_AGAIN', unheard],
    ['silent.test', 'ETIMEOUT', { kind: 'timeout', message: /looked up in time/ }],
  ] as const) {
    const error: unknown = await lookUp(name).then(String, (reason: unknown) => reason);
    t.match(error, { code }, name);
    t.match(failureOf(error), failure, name);
  }

  const before = server.questions.length;
  t.same(await lookUp('service'), ['10.0.0.7'], 'found in the search domain');
  t.same(await lookUp('localhost'), ['127.0.0.1', '::1']);
  await hosts('10.0.0.9 Four.test');
  await sleep(25);
  t.same(await lookUp('FOUR.test'), ['10.0.0.9'], 'the hosts file as it is now, before DNS');
  t.same(
    [...server.questions.slice(before)].sort(),
    ['A service.inner.test', 'AAAA service.inner.test'],
    'nobody is asked for the others',
  );
  const asked = server.questions.length;
  await Promise.all(Array.from({ length: 10 }, () => lookUp('both.test')));
  t.equal(server.questions.length - asked, 2, 'ten at once share one lookup');
});

t.test('a family that is not answered holds up the other for a moment only', async (t) => {
  const timeoutMs = 6_000;
  let release: (answer: Answer) => void = () => undefined;
  const late = new Promise<Answer>((resolve) => {
    release = resolve;
  });
  const server = await nameServer(t, (name, type) => {
    if (name === 'slow.test' && type === 'AAAA') return sleep(20, ['::1']);
    if (name === 'first.test') return type === 'A' ? late : ['2606:4700:4700::1111'];
    return type === 'A' ? ['93.184.216.34'] : late;
  });
  const lookUp = networkLookUp({ timeoutMs, servers: [server.address] });
  for (const [name, address, mostMs] of [
    ['last.test', '93.184.216.34', timeoutMs / 4],
    // IPv4 is asked for once more, after a quarter of the time.
    ['first.test', '2606:4700:4700::1111', timeoutMs / 2],
  ] as const) {
    const begun = performance.now();
    const found = await lookUp(name);
    const tookMs = performance.now() - begun;
    t.comment(`${name}: ${tookMs.toFixed()} ms`);
    t.ok(tookMs < mostMs, `${name} took ${tookMs} ms`);
    t.same(found, [address], 'all that will be connected to');
  }
  const egress = openEgress(t, { allowHttp: false, isAllowed: isPublicAddress }, lookUp);
  t.match(await egress.refusal('https://slow.test/'), { kind: 'blocked' }, 'a slow one counts');
  t.equal(await egress.refusal('https://last.test/'), null);
  release(['::1']);
});

t.test('name servers that are not there', async (t) => {
  const silent = await nameServer(t, () => 'silent');
  const { lookUp } = await names(t, 3_000, [silent.address]);
  t.same(await lookUp('four.test'), ['93.184.216.34'], 'the second is asked in time');
  const closed = networkLookUp({ timeoutMs: 3_000, servers: ['127.0.0.1:1'] });
  await t.rejects(closed('four.test'), { code: 'EAI_AGAIN' }, 'not as if the host had refused');
});

t.test('every address is checked, whichever family it is of', async (t) => {
  const { lookUp } = await names(t, 3_000);
  const listener = await listenOnly(t, '::1');
  const egress = openEgress(t, { allowHttp: false, isAllowed: isPublicAddress }, lookUp);
  for (const host of ['mixed.test', 'mapped.test', 'here.test', 'localhost', 'a.localhost']) {
    const url = `https://${host}:${listener.port}/`;
    t.match(await egress.refusal(url), { kind: 'blocked', message: /public internet/ }, host);
    const sent = { url, headers: {}, body: '{}', timeoutMs: 1_000, connectTimeoutMs: 1_000 };
    t.match(await egress.post(sent), { failure: { kind: 'blocked' } }, host);
  }
  t.equal(await egress.refusal('https://both.test/'), null);
  t.equal(listener.connections(), 0);
});

t.test('fifty names that never answer delay nobody', async (t) => {
  const timeoutMs = 6_000;
  const { lookUp, hosts } = await names(t, timeoutMs);
  await hosts('127.0.0.1 receiver');
  const receiver = await listen(
    t,
    httpReceiver((_, response) => response.end('ok')),
  );
  const egress = openEgress(t, { allowHttp: true, isAllowed: () => true }, lookUp);
  const post = (host: string) =>
    egress.post({
      url: `http://${host}:${receiver.port}/`,
      headers: {},
      body: '{}',
      timeoutMs: 20_000,
      connectTimeoutMs: 20_000,
    });
  const begun = performance.now();
  let over = 0;
  const dead = Array.from({ length: 50 }, async (_, n) => {
    const outcome = await post(`${n}.silent.test`);
    over += 1;
    return { outcome, tookMs: performance.now() - begun };
  });
  await sleep(50);
  for (const host of ['here.test', 'localhost', 'receiver']) {
    const before = performance.now();
    t.match(await post(host), { answered: true }, host);
    const tookMs = performance.now() - before;
    t.comment(`${host}: ${tookMs.toFixed(1)} ms`);
    t.ok(tookMs < timeoutMs / 3, `${host} took ${tookMs} ms`);
  }
  t.equal(over, 0, 'while all fifty were waiting');
  const ends = await Promise.all(dead);
  for (const { outcome } of ends) t.match(outcome, { failure: { kind: 'timeout' } });
  const times = ends.map(({ tookMs }) => tookMs);
  t.comment(`given up after ${Math.min(...times).toFixed()} to ${Math.max(...times).toFixed()} ms`);
  t.ok(Math.max(...times) < 1.5 * timeoutMs, 'all of them side by side');
});
