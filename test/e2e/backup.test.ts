import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import t from 'tap';
import { backUp, missingRoom } from '../../config/commands/backup.ts';
import { restore } from '../../config/commands/restore.ts';
import { generousLimits, runGateway } from '../harness/gateway.ts';
import { file, mediaServer } from '../harness/media-server.ts';
import { freePort } from '../harness/ports.ts';
import { startProcess, type Teardown } from '../harness/processes.ts';
import { openRows } from '../harness/rows.ts';
import { scaled } from '../harness/scale.ts';
import {
  befall,
  bodyOf,
  outbox,
  pair,
  phoneNumber,
  receive,
  sendAccepted,
  until,
  untilMessage,
  untilStatus,
} from '../harness/story.ts';

const [phone, ada] = [phoneNumber(1), phoneNumber(101)];

async function folder(t: Teardown): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'backup-'));
  t.teardown(() => rm(path, { recursive: true, force: true }));
  return path;
}

t.test('a backup under load is restored elsewhere, and nothing is sent twice', async (t) => {
  const [home, elsewhere, place] = [await folder(t), await folder(t), await folder(t)];
  const SIMULATED_NETWORK_URL = `tcp://:${'s'.repeat(32)}@127.0.0.1:${await freePort()}`;
  const program = ['drivers/simulated/network/main.ts'];
  const network = startProcess(t, program, { SIMULATED_NETWORK_URL, DATA_DIR: await folder(t) });
  await network.waitFor(/listening on port/);
  const keys = {
    TEST_API_KEY: `gw_test_${randomBytes(32).toString('base64url')}`,
    LIVE_API_KEY: `gw_live_${randomBytes(32).toString('base64url')}`,
    GATEWAY_SECRET: randomBytes(32).toString('base64'),
  };
  const settings = { SIMULATED_NETWORK_URL, ...keys };
  const all = { ...generousLimits, ...settings };
  const old = await runGateway(t, { databaseUrl: null, dataDir: home, settings: all });
  await pair(old.api, phone);
  await receive(old.api, phone, { from: { phone: ada, name: 'Ada' }, text: 'the first' });
  const position = async (api: typeof old.api, cursor: string | null) => {
    const query = cursor === null ? '' : `&cursor=${cursor}`;
    return bodyOf<{ messages: readonly { text: string }[]; next_cursor: string }>(
      await api.get(`/messages/wait?timeout_s=0${query}`),
    );
  };

  // Load from before the backup until after it; some of it is still queued in the backup, and sent right after.
  const accepted: string[] = [];
  let isLoading = true;
  const writer = async (n: number) => {
    for (let sent = 0; isLoading; sent += 1) {
      const to = { phone: phoneNumber(200 + n) };
      accepted.push(await sendAccepted(old.api, { to, text: `${n} ${sent}` }));
    }
  };
  const writers = Array.from({ length: 8 }, (_, n) => writer(n));
  await until('some load', async () => accepted.length > scaled(2_000) || undefined);
  await befall(old.api, phone, { type: 'drop', for_ms: 60_000 });
  await untilStatus(old.api, 'msgapp', phone, 'connecting');
  const queued = await sendAccepted(old.api, { to: { phone: ada }, text: 'queued' });
  const before = [...accepted, queued];
  const tar = join(place, 'backup.tar');
  const env = { DATA_DIR: home, ...settings };
  t.match(await backUp(tar, env), { json: { file: tar, format: 1 } });
  await t.rejects(backUp(tar, env), { message: /is there already: name another file\.$/ });
  await befall(old.api, phone, { type: 'drop' }); // ends the one before
  isLoading = false;
  await Promise.all(writers);
  await untilMessage(old.api, queued, 'read');
  await receive(old.api, phone, { from: { phone: ada }, text: 'after the backup' });
  const late = await position(old.api, null);
  await t.rejects(restore(tar, env), {
    message: /^A gateway, or another restore, uses .*: a backup is/,
  });
  await old.stop();

  const target = { ...settings, DATA_DIR: elsewhere };
  const foreign = { ...target, GATEWAY_SECRET: randomBytes(32).toString('base64') };
  await t.rejects(restore(tar, foreign), { message: /sealed with another secret/ });
  await writeFile(join(place, 'torn.tar'), 'not a backup');
  await t.rejects(restore(join(place, 'torn.tar'), target), { message: /backup/ });
  const ofFolder = { message: `${place} cannot be unpacked as it is a folder: name the file` };
  await t.rejects(restore(place, target), ofFolder);
  t.equal(missingRoom(200e6, 100e6), 0);
  t.equal(missingRoom(100e6, 100e6), 67_108_864, 'something stays for the gateway that serves');
  const restored = await restore(tar, target);
  t.match(restored, { json: { queued: Number } });
  await t.rejects(restore(tar, target), { message: /restored where there is no data/ });

  const young = await runGateway(t, { databaseUrl: null, dataDir: elsewhere, settings: all });
  const rows = openRows(t, `sqlite:${join(elsewhere, 'gateway.db')}`);
  const stored = await rows.rows<{ id: string }>(
    "select id from messages where direction = 'outbound'",
  );
  const found = new Map<string, number>();
  for (const { id } of stored) found.set(id, (found.get(id) ?? 0) + 1);
  t.same(
    before.filter((id) => found.get(id) !== 1),
    [],
    'what was accepted before is there once',
  );
  await until('the queue to drain', async () => {
    const left = await rows.rows("select id from messages where status = 'queued'");
    return left.length === 0 || undefined;
  });
  const shown = await outbox(young.api, phone);
  const references = shown.map(({ message_id }) => message_id);
  t.equal(new Set(references).size, references.length, 'the network shows none twice');
  t.same(
    before.filter((id) => !references.includes(id)),
    [],
    'and has every one of them',
  );
  const failed = await rows.rows("select id, error from messages where status = 'failed'");
  t.same(failed, [], 'none is in doubt where the network drops repeats');

  await receive(young.api, phone, { from: { phone: ada }, text: 'after the restore' });
  const { messages } = await position(young.api, late.next_cursor);
  t.match(
    messages,
    [{ text: 'after the restore' }],
    'a cursor of after the backup misses nothing new',
  );
});

t.test('a backup has the network that the gateway runs, and goes to other volumes', async (t) => {
  const [home, place] = [await folder(t), await folder(t)];
  const elsewhere = await folder(t);
  // Another volume than that of temporary files, where there is one.
  const volume = await mkdtemp(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'media-'));
  t.teardown(() => rm(volume, { recursive: true, force: true }));
  const secret = { GATEWAY_SECRET: randomBytes(32).toString('base64') };
  const keys = { TEST_API_KEY: `gw_test_${randomBytes(32).toString('base64url')}` };
  const start = (dataDir: string, settings: Readonly<Record<string, string>> = {}) =>
    runGateway(t, {
      databaseUrl: null,
      dataDir,
      settings: { ...generousLimits, ...secret, ...keys, ...settings },
    });
  const old = await start(home);
  const media = await mediaServer(t);
  media.answer('/ada.png', file('text/plain', 'of Ada'));
  await pair(old.api, phone);
  const from = { phone: ada, name: 'Ada' };
  const written = { from, text: 'with a file', media_url: `${media.url}/ada.png` };
  await receive(old.api, phone, written);
  const sent = await sendAccepted(old.api, { to: { phone: ada }, text: 'before' });
  await untilMessage(old.api, sent, 'read');
  const tar = join(place, 'backup.tar');
  // As if it had come between the copy of the database and that of the files.
  const later = join('media', 'kept', 'ten_a', 'ff', 'f'.repeat(32));
  await mkdir(dirname(join(home, later)), { recursive: true });
  await writeFile(join(home, later), 'of Bob');
  t.match(await backUp(tar, { DATA_DIR: home, ...secret }), { json: { media: 2 } });
  await old.kill();
  const target = {
    DATA_DIR: elsewhere,
    GATEWAY_MEDIA__DIRECTORY: join(volume, 'media'),
    ...secret,
  };
  const log = join(elsewhere, 'gateway.db-wal');
  await writeFile(log, 'of a killed gateway');
  await t.rejects(restore(tar, target), { message: `${log} is there already: a backup is` });
  await rm(log);
  const blocked = join(elsewhere, 'a file');
  await writeFile(blocked, '');
  await t.rejects(restore(tar, { ...target, GATEWAY_MEDIA__DIRECTORY: blocked }));
  const bucket = { GATEWAY_MEDIA__S3__BUCKET: 'a-bucket' };
  const message =
    /^The backup has 1 files of media, .* a bucket: restore without GATEWAY_MEDIA__S3__BUCKET/;
  await t.rejects(restore(tar, { ...target, ...bucket }), { message });
  await restore(tar, target);
  for (const name of await readdir(volume, { recursive: true })) {
    t.equal(
      (await stat(join(volume, name))).mode & 0o077,
      0,
      `${name} is the gateway's user's alone`,
    );
  }
  t.notOk(existsSync(join(volume, later)), 'no file that no row would ever delete');
  const young = await start(elsewhere, { GATEWAY_MEDIA__DIRECTORY: join(volume, 'media') });
  await untilStatus(young.api, 'msgapp', phone, 'connected');
  t.match(await outbox(young.api, phone), [{ message_id: sent }], 'the network knows what came');
  const { messages } = bodyOf<{ messages: readonly { media: { url: string } | null }[] }>(
    await young.api.get('/messages?direction=inbound'),
  );
  const stored = await fetch(messages[0]?.media?.url ?? '');
  t.equal(await stored.text(), 'of Ada');
});

t.test('a database server has tools of its own', async (t) => {
  const env = {
    DATABASE_URL: 'mysql://a:b@127.0.0.1:9/c',
    GATEWAY_SECRET: Buffer.alloc(32).toString('base64'),
  };
  const message = /mariadb-dump .*docs\/production\.md/;
  await t.rejects(backUp(join(await folder(t), 'x.tar'), env), { message });
  await t.rejects(restore('x.tar', env), { message });
});
