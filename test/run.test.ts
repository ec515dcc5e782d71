import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createConnection } from 'mysql2/promise';
import t from 'tap';
import { startProcess } from './harness/processes.ts';
import { nameTests } from './named-tests.ts';
import { ResultFilter, readResults } from './results.ts';
import { startMariadb } from './servers/mariadb.ts';
import { memoryOf } from './servers/memory.ts';
import { killGroup } from './servers/processes.ts';
import { Provider } from './servers/provide.ts';
import { makeFolder } from './servers/server.ts';

t.test('the closing line of tap is counted', async (t) => {
  t.same(readResults('ok 1 - a\n# { total: 2, pass: 2 }\n'), { passed: 2, failed: 0 });
  const mixed = '# { total: 8, pass: 5, fail: 2, skip: 1 }\n# time=1ms';
  t.same(readResults(mixed), { passed: 5, failed: 2 });
  t.same(readResults('TAP version 14\n    # { total: 1, pass: 1 }\n'), { passed: 0, failed: 0 });
});

t.test('a file that passed becomes one line, one that failed stays whole', async (t) => {
  const filter = new ResultFilter();
  const good = ['# Subtest: a', '    ok 1 - x', '    1..1', 'ok 1 - a'];
  const bad = ['# Subtest: b', '    not ok 1 - y', '    1..1', 'not ok 2 - b'];
  const lines = ['TAP version 14', '1..2', ...good, ...bad, '# { total: 2, pass: 1, fail: 1 }'];
  const shown = lines.flatMap((line) => filter.take(line));
  t.same(shown, ['TAP version 14', '1..2', 'ok 1 - a', ...bad, '# { total: 2, pass: 1, fail: 1 }']);
  t.same(filter.take('# Subtest: c'), []);
  t.same(filter.end(), ['# Subtest: c'], 'what was cut off is shown');
});

t.test('a folder is the tests in it, without those that have a command of their own', async (t) => {
  const folder = await makeFolder('named');
  const names = [
    'main.ts',
    'b.test.ts',
    'deep/a.test.ts',
    'bench/slow.test.ts',
    'soak/long.test.ts',
  ];
  for (const name of names) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), '');
  }
  const within = (...found: string[]) => found.map((name) => join(folder, name));
  const tests = within('b.test.ts', 'deep/a.test.ts');
  t.same(nameTests(['-Rtap', folder, 'x.ts']), ['-Rtap', ...tests, 'x.ts']);
  t.same(nameTests(within('bench')), within('bench/slow.test.ts'));
  await mkdir(join(folder, 'empty'));
  t.throws(() => nameTests(within('empty')), /There is no test in .*empty\./);
});

t.test('a private database keeps what it committed through a crash', async (t) => {
  const server = await startMariadb();
  t.teardown(() => server.remove());
  const before = await createConnection(server.url);
  await before.query('CREATE DATABASE x');
  await before.query('CREATE TABLE x.y (a INT) SELECT 1 AS a');
  before.on('error', () => {});
  await server.crash();
  await t.rejects(createConnection(server.url), 'nobody listens');

  await server.start();
  const after = await createConnection(server.url);
  t.match((await after.query('SELECT a FROM x.y'))[0], [{ a: 1 }]);
  await server.freeze();
  const answer = after.query('SELECT 2 AS b').then(([rows]) => rows);
  t.equal(await Promise.race([answer, sleep(200, 'silence')]), 'silence');
  server.thaw();
  t.match(await answer, [{ b: 2 }]);
  await after.end();
});

t.test('a server is started once, for the first who asks', async (t) => {
  const file = join(await makeFolder('provider'), 'servers.json');
  const provider = new Provider(file);
  const [url, again] = await Promise.all([
    provider.provide('mariadb'),
    provider.provide('mariadb'),
  ]);
  await provider.settled();
  const { mariadb, ...others } = JSON.parse(await readFile(file, 'utf8'));
  t.teardown(() => killGroup(mariadb.running[0].pid));
  t.equal(again, url);
  t.equal(mariadb.url, url);
  t.same(others, {});
});

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  t.test(`a run starts what its file asks for, and ${signal} ends both`, async (t) => {
    const folder = await makeFolder('run');
    const run = startProcess(t, ['test/run.ts', 'test/servers/borrower.ts'], {
      TMPDIR: folder,
      TEST_MARIADB_URL: undefined,
      TEST_AMQP_URL: undefined,
    });
    const [, url = ''] = await run.waitFor(/borrowed (\S+)/, 90_000);
    await (await createConnection(url)).end();
    const isOwn = (name: string) => name.startsWith('messaging-gateway-test-');
    const [own = ''] = (await readdir(folder)).filter(isOwn);
    const places = [join(folder, own), memoryOf(join(folder, own, 'servers.json'))];
    const kept = places.filter((place) => existsSync(place));
    const made = (await Promise.all(kept.map((place) => readdir(place)))).flat();
    t.ok(made.some((name) => name.startsWith('mariadb-')));
    t.notOk(
      made.some((name) => name.startsWith('rabbitmq-')),
      'nobody asked for RabbitMQ',
    );

    t.same(await run.kill(signal), { code: 128 + constants.signals[signal], signal: null });
    await t.rejects(createConnection(url), 'nobody listens');
    t.same((await readdir(folder)).filter(isOwn), []);
    t.same(places.filter(existsSync), []);
  });
}

t.test('a process is waited for and killed', async (t) => {
  const process = startProcess(t, ['-e', 'console.log("up 7"); setInterval(() => {}, 1000)']);
  t.equal((await process.waitFor(/up (\d)/))[1], '7');
  await t.rejects(process.waitFor(/never/, 50), /No \/never\/ within 50 ms:\nup 7/);
  t.same(await process.kill(), { code: null, signal: 'SIGTERM' });
  t.same(await process.kill(), { code: null, signal: 'SIGTERM' }, 'again changes nothing');

  const ended = startProcess(t, ['-e', 'console.error("no"); process.exit(3)'], { A: undefined });
  await t.rejects(ended.waitFor(/yes/), /ended before \/yes\/:\nno/);
  t.same(await ended.exit, { code: 3, signal: null });
});
