import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, open, rm, stat, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import Libsql from 'libsql';
import t, { type Test } from 'tap';
import { backUp } from '../../config/commands/backup.ts';
import { doctor } from '../../config/commands/doctor.ts';
import { parseCommand } from '../../config/commands/parse.ts';
import type { DatabaseReport } from '../../config/compose-doctor.ts';
import { examineBroker } from '../../config/doctor/broker.ts';
import { judgeDatabase } from '../../config/doctor/database.ts';
import type { Finding } from '../../config/doctor/finding.ts';
import { judgeDisk } from '../../config/doctor/host.ts';
import { examineProxies, judgeUnopened } from '../../config/doctor/proxies.ts';
import { runGateway } from '../harness/gateway.ts';
import { freePort } from '../harness/ports.ts';
import { startReadOnlyServer } from '../harness/read-only-server.ts';
import { s3Server } from '../harness/s3-server.ts';
import { until } from '../harness/story.ts';
import { operate, startRabbitmq } from '../servers/rabbitmq.ts';
import { makeFolder } from '../servers/server.ts';

const secret = () => randomBytes(32).toString('base64');

/** The findings by what was looked at, and the exit code. */
async function examined(env: Readonly<Record<string, string>>) {
  const { json, text, code } = await doctor(env);
  const { findings } = json as { readonly findings: readonly Finding[] };
  return { code, text, of: new Map(findings.map((one) => [one.check, one])), findings };
}

/** Checks that one thing alone is wrong, in these words. */
function isBad(
  t: Test,
  { code, of, findings }: Awaited<ReturnType<typeof examined>>,
  check: string,
  sentence: RegExp,
): void {
  t.equal(code, 1);
  t.match(of.get(check), { ok: false, sentence }, check);
  t.same(
    findings.filter(({ ok }) => !ok).map((one) => one.check),
    [check],
  );
}

t.test('what cannot be had here is judged by what would be found', async (t) => {
  t.match(judgeDisk('/data', 2e9), { ok: true, sentence: '1.9 GiB are free at /data.' });
  t.match(judgeDisk('/data', 5e8), { ok: false, sentence: /^0\.5 GiB .*make room/ });
  const server = {
    ...{ flushAtCommit: 1, maxConnections: 151 },
    ...{ maxPacket: 16 * 1_048_576, scrubs: null },
  };
  const well: DatabaseReport = {
    version: '10.11.6-MariaDB-0+deb12u1',
    clockDifferenceMs: 3,
    server,
    canary: null,
  };
  t.match(judgeDatabase({ ...well, version: '9.7.4' }), [
    { ok: true, sentence: 'MySQL 9.7.4 answers.' },
    { check: 'durability', ok: true },
    { check: 'connections', ok: true },
    { check: 'packets', ok: true },
    { check: 'clock', ok: true },
  ]);
  t.match(judgeDatabase(well, 6)[2], {
    ok: true,
    sentence: 'The database takes 151 connections, 6 processes open at most 132.',
  });
  t.match(judgeDatabase(well, 7)[2], {
    ok: false,
    sentence: 'max_connections is 151: set it to 30 for each process, as 7 open up to 154.',
  });
  for (const [version, sentence] of [
    ['10.5.2-MariaDB', 'MariaDB 10.5.2-MariaDB is too old: run 10.6.0 or newer.'],
    ['5.7.44', 'MySQL 5.7.44 is too old: run 8.0.17 or newer.'],
  ] as const) {
    const wrong = judgeDatabase({ ...well, version }).filter(({ ok }) => !ok);
    t.same(wrong, [{ check: 'database', ok: false, sentence }]);
  }
});

t.test('a broker at a host of IPv6 is not looked up as a name', async (t) => {
  const { sentence } = await examineBroker(`amqp://guest:guest@[::1]:${await freePort()}`);
  t.match(sentence, /^The broker at \[::1\]:\d+ cannot be reached: /);
  t.notMatch(sentence, 'ENOTFOUND');
});

t.test('an embedded gateway, before its start, beside it, and with what is wrong', async (t) => {
  const home = await mkdtemp(join(tmpdir(), 'doctor-'));
  t.teardown(() => rm(home, { recursive: true, force: true }));
  const none = await examined({ DATA_DIR: join(home, 'none') });
  t.equal(none.code, 0, none.text);
  t.match(none.of.get('database'), { sentence: /no database yet/ });
  t.match(none.of.get('files'), { sentence: /no folder .* yet/ });

  const gateway = await runGateway(t, { databaseUrl: null });
  const env = { DATA_DIR: gateway.dataDir, GATEWAY_SECRET: gateway.secret };
  const well = await examined(env);
  t.equal(well.code, 0, well.text);
  t.match(
    well.findings.map(({ sentence }) => sentence),
    [
      'Every setting is valid.',
      'What the gateway keeps is readable by its user alone.',
      / GiB are free at /,
      /^SQLite 3\..* answers\.$/,
      'The clocks of database and gateway differ by 0 ms.',
      'GATEWAY_SECRET opens the database.',
      'There is no broker: one process does everything.',
    ],
  );
  isBad(t, await examined({ ...env, GATEWAY_SECRET: secret() }), 'secret', /another secret/);
  const { DATA_DIR } = env;
  isBad(
    t,
    await examined({ DATA_DIR }),
    'secret',
    /gateway-secret is missing, and .*: put the file back/,
  );
  isBad(t, await examined({ ...env, PORT: 'x' }), 'settings', /PORT/);
  const unreadable = await examined({ ...env, AMQP_URL: 'amqp://user:hidden#hidden@host' });
  isBad(t, unreadable, 'settings', /^amqp_url \(AMQP_URL\) is not an address: write/);
  t.notMatch(unreadable.text, /hidden/);
  const database = join(DATA_DIR, 'gateway.db');
  const rows = new Libsql(database);
  rows.exec("update tenants set plan = 'gold' where mode = 'test'");
  const gold = 'Tenants have the plan "gold", which these settings do not have';
  isBad(t, await examined(env), 'plans', new RegExp(`^${gold}`));
  rows.exec("update tenants set plan = 'scale' where mode = 'test'");
  const unopened = ['acc_1', 'acc_2'];
  for (const id of unopened) {
    rows.exec(
      `insert into accounts (id, tenant_id, channel, identifier, status, status_since, connect_options, proxy, created_at)
       values ('${id}', 'ten_1', 'chatapp', '+1', 'disconnected', 1, '{}', 'v1.lost.AA.AA', 1)`,
    );
  }
  isBad(t, await examined(env), 'proxies', /^No secret opens the proxies of 2 .* \(acc_1, acc_2\)/);
  rows.exec("delete from accounts where tenant_id = 'ten_1'");
  rows.close();
  const below = { GATEWAY_MEDIA__DIRECTORY: join(database, 'media') };
  isBad(t, await examined({ ...env, ...below }), 'media', /gateway\.db is a file and no folder/);
  const kept = join(DATA_DIR, 'gateway-secret');
  await writeFile(kept, 'none', { mode: 0o600 });
  isBad(
    t,
    await examined({ DATA_DIR }),
    'secret',
    /gateway-secret .* does not hold a secret: put it back/,
  );
  await rm(kept);
  await chmod(join(DATA_DIR, 'gateway.db'), 0o644);
  for (const times of ['once', 'and again']) {
    isBad(t, await examined(env), 'files', /gateway\.db has mode 644, .*: run chmod go-rwx /);
    t.equal((await stat(database)).mode & 0o777, 0o644, `it changes nothing, ${times}`);
  }
  await gateway.stop();
  const damaged = await open(database, 'r+');
  await damaged.write(Buffer.alloc(40_000, 7), 0, 40_000, 40_000);
  await damaged.close();
  await chmod(database, 0o600);
  isBad(t, await examined(env), 'database', /gateway\.db is a damaged SQLite database: restore/);
  const backup = backUp(join(home, 'none.tar'), env);
  await t.rejects(backup, { message: /gateway\.db is a damaged SQLite database: restore/ });
  await writeFile(join(home, 'gateway.db'), 'Dear diary, '.repeat(1_000), { mode: 0o600 });
  isBad(t, await examined({ DATA_DIR: home }), 'database', /is not an SQLite database: restore/);
  t.match(parseCommand(['doctor', '--json']), { name: 'doctor', json: true });
  if (process.platform !== 'linux') return;
  // A file system without a free byte.
  isBad(t, await examined({ DATA_DIR: '/sys' }), 'disk', /^0\.0 GiB .*at \/sys: make room/);
});

t.test('files and disks are those that the settings name', async (t) => {
  const [home, elsewhere] = [await makeFolder('doctor'), await makeFolder('doctor')];
  const database = join(elsewhere, 'other.db');
  await writeFile(database, '', { mode: 0o644 });
  const DATABASE_URL = `sqlite:${database}`;
  const env = { DATA_DIR: home, DATABASE_URL, GATEWAY_SECRET: secret() };
  const open = await examined(env);
  const sentence = `${database} has mode 644, others may use it: run chmod go-rwx ${database}.`;
  t.match(open.of.get('files'), { ok: false, sentence });
  await chmod(database, 0o600);
  if (process.platform !== 'linux') return;
  const disks = async (changes: Readonly<Record<string, string>>) => {
    const { findings } = await examined({ ...env, ...changes });
    return findings.filter(({ check }) => check === 'disk');
  };
  t.match(await disks({}), [{ sentence: new RegExp(` at ${elsewhere}\\.$`) }], 'one disk');
  // A file system without a free byte.
  const full = [{ ok: true }, { ok: false, sentence: /^0\.0 GiB are free at \/sys/ }];
  t.match(await disks({ GATEWAY_MEDIA__DIRECTORY: '/sys/media' }), full, 'of the media');
  const DATABASE_ELSEWHERE = { DATABASE_URL: 'sqlite:/sys/gateway.db' };
  t.match(await disks(DATABASE_ELSEWHERE), [...full].reverse(), 'of the database');
});

t.test('a bucket, and what is wrong with it', async (t) => {
  const s3 = await s3Server(t);
  const env = {
    DATA_DIR: await makeFolder('doctor'),
    GATEWAY_SECRET: secret(),
    GATEWAY_MEDIA__S3__BUCKET: s3.settings.bucket,
    GATEWAY_MEDIA__S3__ENDPOINT: s3.settings.endpoint ?? '',
    GATEWAY_MEDIA__S3__ACCESS_KEY: 'id',
    GATEWAY_MEDIA__S3__SECRET_KEY: 'secret',
    GATEWAY_MEDIA__S3__PATH_STYLE: 'true',
  };
  const well = await examined(env);
  t.match([well.code, well.of.get('media')], [0, { ok: true, sentence: /a-bucket/ }]);
  t.equal(s3.objects.size, 0, 'nothing is left');
  for (const [denies, sentence] of [
    ['PUT', /^The bucket a-bucket cannot be written \(AccessDenied\)/],
    ['GET', /^The bucket a-bucket cannot be read \(AccessDenied\)/],
    ['DELETE', /^The bucket a-bucket lets nothing be deleted \(AccessDenied\)/],
    ['missing', /does not say that an object is not there .* list the bucket/],
  ] as const) {
    s3.denies = denies;
    isBad(t, await examined(env), 'media', sentence);
    t.equal(s3.objects.size, denies === 'DELETE' ? 1 : 0, denies);
    s3.objects.clear();
  }
  s3.denies = null;
  s3.version = 'null';
  t.match((await examined(env)).of.get('media'), { ok: true }, 'versioning that is suspended');
  s3.version = 'v1';
  const versions =
    /^The bucket a-bucket keeps what is deleted \(version v1\): turn its versioning off/;
  isBad(t, await examined(env), 'media', versions);
});

t.test('a database server, and what is wrong with it', async (t) => {
  const { url, server, execute } = await startReadOnlyServer(t);
  const env = { DATABASE_URL: url, GATEWAY_SECRET: secret(), DATA_DIR: await makeFolder('doctor') };
  // MySQL has no such setting.
  const scrubbing = 'innodb_immediate_scrub_data_uncompressed = ON';
  const scrubs = await execute(`SET GLOBAL ${scrubbing}`).then(
    () => true,
    () => false,
  );
  await execute('SET GLOBAL max_allowed_packet = 16777216');
  const well = await examined(env);
  t.equal(well.code, 0, well.text);
  t.match(
    well.findings.filter(({ check }) => !['settings', 'files', 'disk', 'broker'].includes(check)),
    [
      { sentence: /^(MariaDB|MySQL) .* answers\.$/ },
      { sentence: 'A commit is on the disk when the database answers.' },
      { sentence: 'The database takes 500 connections, a process opens at most 22.' },
      { sentence: 'The database takes packets of 16 MiB.' },
      ...(scrubs ? [{ sentence: 'The database overwrites what is deleted.' }] : []),
      { sentence: /^The clocks of database and gateway differ by \d+ ms\.$/ },
      { sentence: 'The database is empty: the first start seals it.' },
    ],
  );
  const { GATEWAY_SECRET: _, ...without } = env;
  isBad(t, await examined(without), 'settings', /^gateway_secret \(GATEWAY_SECRET\) must be set/);
  const unscrubbed = /uncompressed is OFF: set it to ON, or the bytes of erased people stay/;
  const off = scrubbing.replace('ON', 'OFF');
  for (const [wrong, right, check, sentence] of [
    ...(scrubs ? [[off, '= ON', 'erasure', unscrubbed] as const] : []),
    ['max_allowed_packet = 8388608', '= 16777216', 'packets', /is 8 MiB: set it to 16 MiB or/],
    ['innodb_flush_log_at_trx_commit = 2', '= 1', 'durability', /is 2: set it to 1, or a crash/],
    ['max_connections = 20', '= 500', 'connections', /is 20: set it to 30 for each process/],
    [
      // A connection's clock is set once, in whole seconds: what passes until it is read comes on top.
      "init_connect = 'set timestamp = unix_timestamp() - 4'",
      "= ''",
      'clock',
      /differ by (?:[4-9]|\d\d+)\d{3} ms: let both machines follow/,
    ],
  ] as const) {
    const begunAt = performance.now();
    await execute(`SET GLOBAL ${wrong}`);
    const found = await examined(env);
    isBad(t, found, check, sentence);
    const [, differenceMs = 0] =
      /differ by (\d+) ms/.exec(`${found.of.get(check)?.sentence}`) ?? [];
    t.ok(Number(differenceMs) < 5_000 + performance.now() - begunAt, `${differenceMs} ms`);
    await execute(`SET GLOBAL ${wrong.replace(/=.*/, right)}`);
  }
  await execute("SET GLOBAL init_connect = 'do sleep(3)'");
  const slow = await examined(env);
  t.equal(slow.code, 0, `a slow log-in is no difference of clocks: ${slow.text}`);
  await execute("SET GLOBAL init_connect = ''");
  const at = (changes: Partial<URL>) =>
    examined({ ...env, DATABASE_URL: Object.assign(new URL(url), changes).href });
  isBad(t, await at({ password: 'hidden' }), 'database', /refuses the user "gateway" .*: correct/);
  isBad(t, await at({ pathname: '/none' }), 'database', /does not let .* "none": grant all/);
  const noDatabase = await examined({ ...env, DATABASE_URL: `${server.url}/none` });
  isBad(t, noDatabase, 'database', /has no database "none": create it, or name another one/);
  const port = String(await freePort());
  const away = await at({ port, password: 'hidden' });
  isBad(t, away, 'database', new RegExp(`${port} does not answer \\(.*\\): start it`));
  t.notMatch(away.text, 'hidden');
  await server.freeze();
  isBad(t, await examined(env), 'database', /does not answer \(.*\): start it/);
  server.thaw();
});

t.test('a broker and the proxies, and what is wrong with them', async (t) => {
  const folder = await makeFolder('doctor');
  const allowed = { vhost: '/', configure: '.*', write: '.*', read: '.*' };
  const other = { configure: '^other', write: '^other', read: '^other' };
  const gateways = '^gateway\\..*';
  const own = { configure: gateways, write: gateways, read: gateways };
  const definitions = {
    vhosts: [{ name: '/' }, { name: 'full' }],
    users: ['guest', 'advised', 'halfway', 'limited', 'nobody'].map((name) => ({
      ...{ name, password: name, tags: '' },
    })),
    permissions: [
      { user: 'guest', ...allowed },
      { user: 'guest', ...allowed, vhost: 'full' },
      { user: 'limited', ...allowed, ...other },
      { user: 'halfway', ...allowed, ...own },
      { user: 'advised', ...allowed, ...own, write: '^(gateway\\..*|amq\\.default)$' },
    ],
    policies: [
      {
        ...{ vhost: 'full', name: 'none', pattern: '.*', 'apply-to': 'queues', priority: 1 },
        definition: { 'max-length': 0 },
      },
    ],
  };
  await writeFile(join(folder, 'definitions.json'), JSON.stringify(definitions));
  const rabbitmq = await startRabbitmq([
    `load_definitions = ${join(folder, 'definitions.json')}`,
    'tcp_listen_options.backlog = 1',
  ]);
  t.teardown(() => rabbitmq.remove());
  const env = { DATA_DIR: join(folder, 'none') };
  const at = (changes: Partial<URL> = {}) =>
    examined({ ...env, AMQP_URL: Object.assign(new URL(rabbitmq.url), changes).href });
  const sentence = 'The broker takes and gives messages.';
  t.match((await at()).of.get('broker'), { ok: true, sentence });

  const advised = await at({ username: 'advised', password: 'advised' });
  t.match(advised.of.get('broker'), { ok: true, sentence });
  const permissions =
    /configure and read "\^gateway\\\.\.\*", and to write "\^\(gateway\\\.\.\*\|amq\\\.default\)\$" /;
  for (const username of ['limited', 'halfway']) {
    isBad(t, await at({ username, password: username }), 'broker', permissions);
  }
  const nobody = await at({ username: 'nobody', password: 'nobody' });
  isBad(t, nobody, 'broker', /refuses the user nobody on the virtual host "\/": correct/);
  const stranger = await at({ password: 'hidden' });
  isBad(t, stranger, 'broker', /refuses the user guest .*: correct AMQP_URL or AMQP_PASSWORD/);
  const nowhere = /refuses the user guest on the virtual host "nowhere"/;
  isBad(t, await at({ pathname: '/nowhere' }), 'broker', nowhere);
  isBad(t, await at({ pathname: '/full' }), 'broker', /loses messages: let no policy limit/);
  // The port has the digits 530, AMQP's number of NOT_ALLOWED.
  const away = await at({ port: '10530', password: 'hidden' });
  isBad(t, away, 'broker', /cannot be reached: start it, or correct AMQP_URL \(.*ECONNREFUSED/);
  for (const { text } of [stranger, away]) t.notMatch(text, 'hidden');
  await operate(rabbitmq, ['set_vm_memory_high_watermark', 'absolute', '1']);
  isBad(t, await at(), 'broker', /takes no messages \(low on memory\): give it more memory/);

  const [host, port] = ['127.0.0.1', Number(new URL(rabbitmq.url).port)];
  const user = { username: 'gateway', password: 'hidden' };
  const proxy = { protocol: 'http', host, port, ...user, accounts: 2 } as const;
  t.same([...judgeUnopened([]), ...(await examineProxies([]))], []);
  const many = Array.from({ length: 25 }, (_, number) => `acc_${number}`);
  t.match(judgeUnopened(many), [
    { ok: false, sentence: /25 accounts \(acc_0, .*, acc_19 and 5 more\)/ },
  ]);
  t.match(await examineProxies([proxy, proxy]), [
    { ok: true, sentence: 'Each of the 2 proxies of accounts can be connected to.' },
  ]);
  await rabbitmq.freeze();
  t.teardown(async () => rabbitmq.thaw());
  isBad(t, await at(), 'broker', /does not answer: start it anew, or correct AMQP_URL/);
  // More than its system keeps for it, with those of the examinations before, which it keeps too.
  const ignore = () => undefined;
  const waiting = [1, 2, 3, 4].map(() => connect({ host, port }).on('error', ignore));
  t.teardown(async () => waiting.forEach((socket) => void socket.destroy()));
  await until('one connection to wait', async () => {
    await sleep(100);
    return waiting.some(({ connecting }) => connecting) ? true : undefined;
  });
  const closed = await freePort();
  t.match(await examineProxies([proxy, { ...proxy, port: closed }]), [
    {
      ok: false,
      sentence: /^The proxy http:.*\*\*\*.* cannot be connected to \(no answer\): start/,
    },
    { ok: false, sentence: /\(ECONNREFUSED\): start it, or change it by PATCH \/accounts\/\{id\}/ },
  ]);
});
