import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { doctor } from '../../config/commands/doctor.ts';
import { parseCommand } from '../../config/commands/parse.ts';
import type { DatabaseFacts } from '../../config/compose-doctor.ts';
import { judgeDatabase } from '../../config/doctor/database.ts';
import type { Finding } from '../../config/doctor/finding.ts';
import { judgeDisk, judgeModes } from '../../config/doctor/host.ts';
import { engines } from '../harness/databases.ts';
import { runGateway } from '../harness/gateway.ts';
import { freePort } from '../harness/ports.ts';
import { operate, startRabbitmq } from '../servers/rabbitmq.ts';

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

t.test('what is found of a host and of a database is judged', async (t) => {
  const path = '/data/gateway.db';
  t.match(
    judgeModes([
      { path, mode: 0o100600 },
      { path: '/data/none', mode: null },
    ]),
    { ok: true },
  );
  t.match(judgeModes([{ path, mode: 0o100644 }]), {
    ok: false,
    sentence:
      '/data/gateway.db has mode 644, others may use it: run chmod go-rwx /data/gateway.db.',
  });
  t.match(judgeDisk('/data', 2e9), { ok: true, sentence: '1.9 GiB are free at /data.' });
  t.match(judgeDisk('/data', 5e8), { ok: false, sentence: /^0\.5 GiB .*make room/ });

  const well: DatabaseFacts = {
    version: '10.11.6-MariaDB-0+deb12u1',
    clockDifferenceMs: 3,
    server: { flushAtCommit: 1, maxConnections: 151 },
    canary: null,
  };
  t.ok(judgeDatabase(well).every(({ ok }) => ok));
  t.ok(judgeDatabase({ ...well, version: '9.7.4' }).every(({ ok }) => ok));
  const cases: readonly (readonly [Partial<DatabaseFacts>, string, RegExp])[] = [
    [{ version: '10.5.2-MariaDB' }, 'database', /too old: run 10\.6 or newer/],
    [{ version: '5.7.44' }, 'database', /MySQL 5\.7\.44 is too old: run 8\.0/],
    [{ server: { flushAtCommit: 2, maxConnections: 151 } }, 'durability', /is 2: set it to 1/],
    [{ server: { flushAtCommit: 1, maxConnections: 20 } }, 'connections', /is 20: set it to 30/],
    [{ clockDifferenceMs: -4_000 }, 'clock', /differ by 4000 ms: let both/],
  ];
  for (const [change, check, sentence] of cases) {
    const wrong = judgeDatabase({ ...well, ...change }).filter(({ ok }) => !ok);
    t.match(wrong, [{ check, sentence }]);
    t.equal(wrong.length, 1);
  }
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
  t.match(well.of.get('secret'), { sentence: 'GATEWAY_SECRET opens the database.' });
  t.match(well.of.get('disk'), { sentence: /GiB are free/ });
  isBad(t, await examined({ ...env, GATEWAY_SECRET: secret() }), 'secret', /another secret/);
  isBad(t, await examined({ ...env, PORT: 'x' }), 'settings', /PORT/);
  await chmod(join(gateway.dataDir, 'gateway.db'), 0o644);
  isBad(t, await examined(env), 'files', /gateway\.db has mode 644/);
  t.match(parseCommand(['doctor', '--json']), { name: 'doctor', json: true });
});

t.test('a database server and a broker, and what is wrong with them', async (t) => {
  const { url } = await engines.mariadb.create(t);
  const rabbitmq = await startRabbitmq();
  t.teardown(() => rabbitmq.remove());
  const { url: amqp } = rabbitmq;
  await operate(rabbitmq, ['add_user', 'limited', 'limited']);
  await operate(rabbitmq, ['add_user', 'nobody', 'nobody']);
  await operate(rabbitmq, ['set_permissions', 'limited', '^other', '^other', '^other']);
  const env = { DATABASE_URL: url, AMQP_URL: amqp, GATEWAY_SECRET: secret() };
  const found = await examined(env);
  t.match(found.of.get('database'), { ok: true, sentence: /^MariaDB .* answers\.$/ });
  t.match(found.of.get('clock'), { ok: true });
  t.match(found.of.get('secret'), { ok: true, sentence: /empty/ });
  t.match(found.of.get('broker'), { ok: true });

  const closed = await freePort();
  const as = (user: string) => examined({ ...env, AMQP_URL: amqp.replaceAll('guest', user) });
  t.match((await as('limited')).of.get('broker'), {
    ok: false,
    sentence: /permissions to configure, write and read "\^gateway/,
  });
  t.match((await as('nobody')).of.get('broker'), {
    ok: false,
    sentence: /refuses the user nobody/,
  });
  const [away, silent, stranger] = await Promise.all([
    examined({ ...env, DATABASE_URL: `mysql://a:b@127.0.0.1:${closed}/c` }),
    examined({ ...env, AMQP_URL: `amqp://a:hidden@127.0.0.1:${closed}` }),
    examined({ ...env, AMQP_URL: amqp.replace('guest:guest', 'guest:hidden') }),
  ]);
  t.match(away.of.get('database'), { ok: false, sentence: new RegExp(String(closed)) });
  t.match(silent.of.get('broker'), { ok: false, sentence: /cannot be reached: start it/ });
  t.match(stranger.of.get('broker'), { ok: false, sentence: /refuses the user guest/ });
  for (const { text } of [away, silent, stranger]) t.notMatch(text, 'hidden');
});
