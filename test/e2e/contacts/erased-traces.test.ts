import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createConnection } from 'mysql2/promise';
import t, { type Test } from 'tap';
import { backUp } from '../../../config/commands/backup.ts';
import { type RunningGateway, runGateway } from '../../harness/gateway.ts';
import { file, mediaServer, picture } from '../../harness/media-server.ts';
import { freePort } from '../../harness/ports.ts';
import { startProcess } from '../../harness/processes.ts';
import { startReceiver } from '../../harness/receiver.ts';
import { openRows } from '../../harness/rows.ts';
import { pair, receive, sendAccepted, until, untilMessage } from '../../harness/story.ts';
import { startMariadb } from '../../servers/mariadb.ts';
import { operate, startRabbitmq } from '../../servers/rabbitmq.ts';
import type { Server } from '../../servers/server.ts';
import { contacts } from './lists.ts';

const ada = '+12025550173';
const name = 'Adalbertine Quux';
const [wrote, answered, own] = ['wrote a xyzzy word', 'answered a plugh word', 'bytes of a grue'];
/** What nobody may find of her any more. */
const traces = [ada.slice(1), 'Adalbertine', 'xyzzy', 'plugh', 'grue'];

/** The traces in bytes, with where they are. */
const tracesIn = (place: string, bytes: Buffer): readonly string[] =>
  traces.flatMap((trace) => (bytes.includes(trace) ? [`${trace} in ${place}`] : []));

/** The traces in the files of a folder. */
async function tracesBelow(folder: string): Promise<readonly string[]> {
  const found: string[] = [];
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  for (const entry of entries.filter((one) => one.isFile())) {
    const path = join(entry.parentPath, entry.name);
    found.push(...tracesIn(path, await readFile(path)));
  }
  return found;
}

/** The traces in all rows of all tables, as text. */
async function tracesInRows(t: Test, databaseUrl: string): Promise<readonly string[]> {
  const db = openRows(t, databaseUrl);
  const tables = await db.rows<{ name: string }>(
    db.dialect === 'sqlite'
      ? "select name from sqlite_master where type = 'table'"
      : 'select table_name as name from information_schema.tables where table_schema = database()',
  );
  const found: string[] = [];
  for (const table of tables) {
    const rows = await db.rows('select * from ??', [table.name]);
    found.push(...tracesIn(table.name, Buffer.from(JSON.stringify(rows))));
  }
  return found;
}

async function folder(t: Test): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'traces-'));
  t.teardown(() => rm(path, { recursive: true, force: true }));
  return path;
}

/** The network keeps what it was given: it runs apart from the gateways, whose folders are searched. */
const SIMULATED_NETWORK_URL = `tcp://:${'s'.repeat(32)}@127.0.0.1:${await freePort()}`;
const networkPlace = { SIMULATED_NETWORK_URL, DATA_DIR: await folder(t) };
const network = startProcess(t, ['drivers/simulated/network/main.ts'], networkPlace);
const server = await mediaServer(t);
server.answer('/hers.png', file('image/png', Buffer.concat([picture, Buffer.from(own)])));
await network.waitFor(/listening on port/);

/** A life with Ada in it: messages both ways, a file, deliveries. Answers her contact's id. */
async function meetAda({ api }: RunningGateway, phone: string): Promise<string> {
  const receiver = await startReceiver(t);
  await pair(api, phone);
  const subscribed_to = ['message.received', 'message.sent', 'message.read'];
  await api.post('/webhooks', { name: 'all', url: receiver.url(), subscribed_to });
  const media_url = `${server.url}/hers.png`;
  await receive(api, phone, { from: { phone: ada, name }, text: wrote, ...{ media_url } });
  await untilMessage(api, await sendAccepted(api, { to: { phone: ada }, text: answered }), 'read');
  await until('the deliveries', async () => receiver.received.length >= 3 || undefined);
  const [contact] = await contacts(api, `?phone=${encodeURIComponent(ada)}`);
  return contact?.id ?? '';
}

/** The export has everything; what is behind the address of the file is returned with it. */
async function exported({ baseUrl, key }: RunningGateway, id: string): Promise<string> {
  const headers = { 'x-api-key': key };
  const lines = await (await fetch(`${baseUrl}/contacts/${id}/export`, { headers })).text();
  const [, url = ''] = /"url":"([^"]+\/v1\/media\/[^"]+)"/.exec(lines) ?? [];
  return lines + (await (await fetch(url)).text());
}

async function eraseAda(t: Test, gateway: RunningGateway, id: string): Promise<void> {
  const all = await exported(gateway, id);
  t.same(
    traces.filter((trace) => !all.includes(trace)),
    [],
    'the export has everything',
  );
  t.match(await gateway.api.delete(`/contacts/${id}`), { body: { status: 'erased' } });
}

const hasEnded = async ({ folder }: Server): Promise<boolean> => !existsSync(join(folder, 'pid'));

const settings = { SIMULATED_NETWORK_URL, LOG_LEVEL: 'debug' };

t.test('files, log and backup of an embedded gateway', async (t) => {
  const gateway = await runGateway(t, { databaseUrl: null, settings });
  const { dataDir } = gateway;
  const id = await meetAda(gateway, '+12025550001');
  const before = (await tracesBelow(dataDir)).join();
  for (const trace of traces) t.match(before, trace, 'is found before');
  await eraseAda(t, gateway, id);
  t.same(await tracesBelow(dataDir), [], 'database, its log, media');
  t.same(await tracesInRows(t, `sqlite:${join(dataDir, 'gateway.db')}`), []);
  const place = await folder(t);
  const env = { ...settings, DATA_DIR: dataDir, GATEWAY_SECRET: gateway.secret };
  t.match(await backUp(join(place, 'backup.tar'), env), { json: { format: 1 } });
  t.same(await tracesBelow(place), [], 'a backup made afterwards');
  t.same(tracesIn('the log', Buffer.from(gateway.output())), []);
});

t.test('rows, dump, table files, broker and log with servers', async (t) => {
  // Else InnoDB leaves what was deleted in its pages until the room is used again.
  const scrubbing = ['--innodb-immediate-scrub-data-uncompressed=1'];
  const [mariadb, rabbitmq] = await Promise.all([startMariadb(scrubbing), startRabbitmq()]);
  t.teardown(() => Promise.all([mariadb.remove(), rabbitmq.remove()]));
  const admin = await createConnection({ uri: mariadb.url, multipleStatements: true });
  await admin.query('create database gateway character set utf8mb4');
  const databaseUrl = `${mariadb.url}/gateway`;
  const servers = { ...settings, AMQP_URL: rabbitmq.url };
  const gateway = await runGateway(t, { databaseUrl, settings: servers });
  const id = await meetAda(gateway, '+12025550002');
  const data = join(mariadb.folder, 'data');
  // Writes the pages of the tables into their files.
  await admin.query('use gateway; flush tables messages, contacts for export; unlock tables');
  const before = (await tracesBelow(join(data, 'gateway'))).join();
  for (const trace of traces.slice(0, -1)) t.match(before, trace, 'is found before');

  await eraseAda(t, gateway, id);
  t.same(await tracesInRows(t, databaseUrl), []);
  t.same(await tracesBelow(gateway.dataDir), [], 'media');
  t.same(tracesIn('the log', Buffer.from(gateway.output())), []);
  const { port } = new URL(mariadb.url);
  const dumping = ['--no-defaults', '-h127.0.0.1', `-P${port}`, '-uroot', '--single-transaction'];
  const { stdout: dump } = await promisify(execFile)('mariadb-dump', [...dumping, 'gateway']);
  t.match(dump, /INSERT INTO `contacts`.*Dump completed/s);
  t.same(tracesIn('the dump', Buffer.from(dump)), [], 'a dump made afterwards');
  await gateway.stop();
  await operate(rabbitmq, ['stop_app']);
  t.same(await tracesBelow(rabbitmq.folder), [], 'whatever the broker has on its disk');

  // InnoDB removes what was deleted in the background; its log goes round, or is made anew with another size.
  await admin.query('set global innodb_max_purge_lag_wait = 0');
  await admin.query('set global innodb_log_file_size = 33554432');
  await admin.query('set global innodb_fast_shutdown = 0; shutdown').catch(() => undefined);
  await until('the end of the server', async () => (await hasEnded(mariadb)) || undefined);
  t.same(await tracesBelow(data), [], 'the files of the server');
});
