import { randomBytes } from 'node:crypto';
import { createConnection } from 'mysql2/promise';
import t from 'tap';
import { doctor } from '../../config/commands/doctor.ts';
import type { Finding } from '../../config/doctor/finding.ts';
import { contents } from '../../config/tables.ts';
import { createLog } from '../../core/log.ts';
import { openStorage } from '../../plugins/storage/plugin.ts';
import { makeCertificates } from '../harness/certificates.ts';
import { runGateway } from '../harness/gateway.ts';
import { freePort } from '../harness/ports.ts';
import { startProcess } from '../harness/processes.ts';
import { readiness } from '../harness/readiness.ts';
import { messageOf, pair, sendAccepted, until } from '../harness/story.ts';
import { startMariadb } from '../servers/mariadb.ts';
import { startRabbitmq } from '../servers/rabbitmq.ts';
import { makeFolder } from '../servers/server.ts';

const { authority, stranger, certificate, key } = await makeCertificates(t);
const securePort = await freePort();
const [mariadb, rabbitmq] = await Promise.all([
  startMariadb([`--ssl-cert=${certificate}`, `--ssl-key=${key}`, '--require-secure-transport=ON']),
  startRabbitmq([
    `listeners.ssl.default = 127.0.0.1:${securePort}`,
    `ssl_options.cacertfile = ${authority}`,
    `ssl_options.certfile = ${certificate}`,
    `ssl_options.keyfile = ${key}`,
  ]),
]);
t.teardown(() => Promise.all([mariadb.remove(), rabbitmq.remove()]));
const ssl = { rejectUnauthorized: false };
const root = await createConnection({ uri: mariadb.url, ssl });
await root.query('CREATE DATABASE gateway CHARACTER SET utf8mb4');
await root.end();

const databaseUrl = `${mariadb.url.replace('127.0.0.1', 'localhost')}/gateway`;
const env = {
  DATABASE_URL: databaseUrl,
  DATABASE_CA: authority,
  AMQP_URL: `amqps://guest:guest@localhost:${securePort}`,
  AMQP_CA: authority,
  GATEWAY_SECRET: randomBytes(32).toString('base64'),
};

/** What the doctor says of the database and of the broker. */
async function sentences(change: Readonly<Record<string, string | undefined>>) {
  const { json } = await doctor({ ...env, ...change });
  const { findings } = json as { readonly findings: readonly Finding[] };
  const of = (check: string): string => {
    const found = findings.find((finding) => finding.check === check);
    return `${found?.ok ? 'ok' : 'BAD'} ${found?.sentence}`;
  };
  return { settings: of('settings'), database: of('database'), broker: of('broker') };
}

t.test('a gateway works over TLS with both servers', async (t) => {
  const gateway = await runGateway(t, { databaseUrl, settings: env });
  const account = await pair(gateway.api, '+14155550101');
  const to = { phone: '+14155550102' };
  const id = await sendAccepted(gateway.api, { account_id: account, to });
  await until('the message to be sent', async () =>
    (await messageOf(gateway.api, id)).status === 'queued' ? undefined : true,
  );
  t.match(await sentences({}), { database: /^ok MariaDB|^ok MySQL/, broker: /^ok / });
  t.equal(await gateway.stop(), 0);
});

t.test('a server that is not trusted is named with its setting', async (t) => {
  t.match(await sentences({ DATABASE_CA: stranger, AMQP_CA: stranger }), {
    database: /^BAD .* is not trusted \(.*certificate.*\): .* in DATABASE_CA, and in DATABASE_URL/,
    broker: /^BAD .* is not trusted \(.*certificate.*\): .* in AMQP_CA, and in AMQP_URL/,
  });
  t.match(await sentences({ DATABASE_CA: undefined, AMQP_CA: undefined }), {
    database: /^BAD .* DATABASE_CA if it takes encrypted connections only\.$/,
    broker: /^BAD .* is not trusted .* AMQP_CA/,
  });
  t.match(await sentences({ DATABASE_CA: '/nowhere', AMQP_CA: key }), {
    database: /^BAD DATABASE_CA cannot be read \(ENOENT/,
    broker: /^BAD AMQP_CA must name a PEM file of certificates/,
  });
  for (const [change, sentence] of [
    [{ AMQP_URL: rabbitmq.url }, /^BAD amqp_ca \(AMQP_CA\) needs an amqps:\/\/ address/],
    [{ DATABASE_URL: 'sqlite:x' }, /^BAD database_ca \(DATABASE_CA\) needs a mysql:\/\/ address/],
  ] as const) {
    t.match((await sentences(change)).settings, sentence);
  }
});

t.test('a start does not wait for a database that it cannot trust', async (t) => {
  const place = { database_url: databaseUrl, database_ca: stranger, data_dir: '' };
  const begunAt = performance.now();
  await t.rejects(openStorage(place, contents, createLog('silent'), 30_000), {
    name: 'StartRefusal',
    message: /in DATABASE_CA/,
  });
  t.ok(performance.now() - begunAt < 5_000);
});

t.test('a start with a broker that it cannot trust says so, and is not ready', async (t) => {
  const port = await freePort();
  const started = startProcess(t, ['main.ts', 'serve'], {
    ...env,
    AMQP_CA: stranger,
    DATA_DIR: await makeFolder('untrusting'),
    PORT: String(port),
  });
  await started.waitFor(/RabbitMQ is not trusted: AMQP_CA must name/);
  const url = `http://127.0.0.1:${port}`;
  const found = await until('an answer', () => readiness(url).catch(() => undefined));
  t.match(found, { status: 503, checks: { database: 'ok', broker: 'unavailable' } });
});
