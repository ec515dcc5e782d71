import { chmod, mkdir, mkdtemp, open, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createConnection } from 'mysql2/promise';
import t, { type Test } from 'tap';
import { contents } from '../../../config/tables.ts';
import { createLog } from '../../../core/log.ts';
import { openStorage } from '../../../plugins/storage/plugin.ts';
import { engines } from '../../harness/databases.ts';
import { freePort } from '../../harness/ports.ts';
import { startProcess } from '../../harness/processes.ts';

const log = createLog('silent');

async function folder(t: Test): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'opening-'));
  t.teardown(() => rm(path, { recursive: true, force: true }));
  return path;
}

/** What a start that fails tells its user, besides the log: one line. */
async function refusedStart(t: Test, env: Record<string, string>) {
  const gateway = startProcess(t, ['main.ts', 'serve'], { ...env, PORT: '0', LOG_LEVEL: 'info' });
  const giveUp = setTimeout(() => void gateway.kill(), 15_000);
  const { code } = await gateway.exit;
  clearTimeout(giveUp);
  await new Promise((resolve) => setTimeout(resolve, 50));
  const lines = gateway.output.split('\n').filter((line) => line !== '' && !line.startsWith('{'));
  const isTraced = /^ +at |"stack":/m.test(gateway.output);
  return { code, lines, isTraced };
}

/** Makes a database and closes it again. */
async function makeDatabase(dataDir: string): Promise<string> {
  const path = join(dataDir, 'gateway.db');
  const place = { database_url: `sqlite:${path}`, data_dir: dataDir };
  const storage = await openStorage(place, contents, log, 0);
  await storage.close();
  return path;
}

t.test('a start on a place that will not do ends with one sentence', async (t) => {
  const base = await folder(t);
  const notOne = join(base, 'not-one.db');
  await writeFile(notOne, 'Dear diary, '.repeat(1_000));
  const damagedDir = join(base, 'damaged');
  const damaged = await makeDatabase(damagedDir);
  const file = await open(damaged, 'r+');
  await file.write(Buffer.alloc(20_000, 7), 0, 20_000, 5_000);
  await file.close();
  const plain = join(base, 'plain');
  await writeFile(plain, '');
  const unsupported = process.platform !== 'linux' || process.getuid?.() !== 0;
  const cases: readonly (readonly [string, Record<string, string>, RegExp])[] = [
    [
      'a file that is no database',
      { DATA_DIR: base, DATABASE_URL: `sqlite:${notOne}` },
      /not-one\.db is not an SQLite database: restore it from a backup, or set DATA_DIR/,
    ],
    [
      'a damaged one',
      { DATA_DIR: damagedDir },
      /gateway\.db is a damaged SQLite database: restore it from a backup, or set DATA_DIR/,
    ],
    ['a DATA_DIR that is a file', { DATA_DIR: plain }, /plain .* file.*: .*set DATA_DIR/],
    [
      'media below a file',
      { DATA_DIR: join(base, 'whole'), GATEWAY_MEDIA__DIRECTORY: join(plain, 'media') },
      /plain\/media\/spool cannot be written \(ENOTDIR\): .* set media\.directory/,
    ],
    ['a DATABASE_URL of no kind', { DATABASE_URL: 'gateway.db' }, /DATABASE_URL/],
  ];
  for (const [name, env, sentence] of cases) {
    const { code, lines, isTraced } = await refusedStart(t, env);
    t.equal(code, 1, name);
    t.equal(lines.length, 1, `${name}: ${lines.join(' | ')}`);
    t.match(lines[0], sentence);
    t.notOk(isTraced, 'without a trace');
  }
  if (unsupported) return;
  const refused = await refusedStart(t, { DATA_DIR: '/sys/gateway' });
  t.match(refused, { code: 1, isTraced: false });
  t.match(refused.lines, [/\/sys\/gateway cannot be written by this user: .* set DATA_DIR/]);
});

t.test('a database server that will not have the gateway is named with what to do', async (t) => {
  const database = await engines.mariadb.create(t);
  const change = (changes: Partial<URL>) => Object.assign(new URL(database.url), changes).href;
  const refusal = (database_url: string) =>
    openStorage({ database_url, data_dir: './data' }, contents, log, 0).then(
      async (storage) => await storage.close(),
      (error: Error) => `${error.name}: ${error.message}`,
    );
  t.match(
    await refusal(change({ username: 'nobody', password: 'wrong' })),
    /^StartRefusal: The database server at 127\.0\.0\.1:\d+ refuses the user "nobody" .*: correct .* DATABASE_URL/,
  );
  t.match(await refusal(change({ pathname: '/none' })), /^StartRefusal: .* has no database "none"/);
  const port = String(await freePort());
  t.match(
    await refusal(change({ port })),
    new RegExp(`^StartRefusal: .* at 127.0.0.1:${port} does not answer .*ECONNREFUSED.*: start it`),
  );
  t.match(await refusal('mysql://gateway:pass#word@h/gateway'), /^StartRefusal: DATABASE_URL/);
});

t.test('a start waits for no server that refuses the log-in', async (t) => {
  const database = await engines.mariadb.create(t);
  const address = new URL(database.url);
  const name = address.pathname.slice(1);
  const server = await createConnection(database.url);
  t.teardown(async () => {
    await server.query(`drop user ${name}`);
    await server.end();
  });
  await server.query(`create user ${name} identified by 'secret' account lock`);
  const open = (changes: Partial<URL>) => {
    const database_url = Object.assign(new URL(address), changes).href;
    return openStorage({ database_url, data_dir: './data' }, contents, log, 600_000);
  };
  await t.rejects(open({ username: name, password: 'wrong' }), /refuses the user .* password/);
  await t.rejects(open({ pathname: '/none' }), /has no database "none"/);
  await t.rejects(open({ username: name, password: 'secret' }), /refuses .* locked\W*: let it in/);
});

t.test('nobody but the user of the gateway can read an embedded database', async (t) => {
  const base = await folder(t);
  const dataDir = join(base, 'data');
  const modes = async () => {
    const names = (await readdir(dataDir)).sort();
    const found = names.map(async (name) => [name, (await stat(join(dataDir, name))).mode & 0o777]);
    return Object.fromEntries(await Promise.all(found));
  };
  const path = join(dataDir, 'gateway.db');
  const place = { database_url: `sqlite:${path}`, data_dir: dataDir };
  const first = await openStorage(place, contents, log, 0);
  t.same(await modes(), { 'gateway.db': 0o600, 'gateway.db-shm': 0o600, 'gateway.db-wal': 0o600 });
  t.equal((await stat(dataDir)).mode & 0o777, 0o700);
  await first.close();

  await chmod(path, 0o644);
  await (await openStorage(place, contents, log, 0)).close();
  t.same((await modes())['gateway.db'], 0o600, 'one that was open to all is closed');

  await rm(dataDir, { recursive: true });
  await mkdir(dataDir, { mode: 0o755 });
  await (await openStorage(place, contents, log, 0)).close();
  t.equal((await stat(dataDir)).mode & 0o777, 0o700, 'a folder that was made for it, too');
});

t.test('the file of an embedded database shrinks after clean-ups', async (t) => {
  const dataDir = await folder(t);
  const path = join(dataDir, 'gateway.db');
  const storage = await openStorage(
    { database_url: `sqlite:${path}`, data_dir: dataDir },
    contents,
    log,
    0,
  );
  t.teardown(() => storage.close());
  const { write } = storage.connections;
  const size = async () => {
    await write.raw('pragma wal_checkpoint(passive)');
    return (await stat(path)).size;
  };
  const values = Array.from({ length: 400 }, (_, n) => ({
    name: `row ${n}`,
    value: 'x'.repeat(50_000),
  }));
  for (let n = 0; n < values.length; n += 100)
    await write('marks').insert(values.slice(n, n + 100));
  const full = await size();
  await write('marks').where('name', '>', 'row 2').delete();
  t.equal(await size(), full, 'it stays as large at first');
  let isOver = false;
  const shrinking = storage.shrink().finally(() => {
    isOver = true;
  });
  await storage.probe();
  t.notOk(isOver, 'others have their turns between its pieces');
  await shrinking;
  const left = await size();
  t.ok(left < full / 2, `${left} bytes are left of ${full}`);
  t.match(await write.raw('pragma integrity_check'), [{ integrity_check: 'ok' }]);
});
