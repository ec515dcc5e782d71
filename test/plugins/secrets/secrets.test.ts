import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { makeCursors } from '../../../plugins/secrets/cursors.ts';
import { makeKeyring } from '../../../plugins/secrets/keyring.ts';
import { loadKeyring } from '../../../plugins/secrets/load.ts';
import { makeSecrets } from '../../../plugins/secrets/sealing.ts';
import { startProcess } from '../../harness/processes.ts';

const oldSecret = randomBytes(32).toString('base64');
const newSecret = randomBytes(32).toString('base64url');

t.test('sealing', async (t) => {
  const secrets = makeSecrets(makeKeyring(oldSecret, null));
  for (const plain of ['', 'secret', '😀 é', 'x'.repeat(100_000), '{"a":1}']) {
    const sealed = secrets.seal(plain, 'credential:acc_1:session');
    t.match(sealed, /^v1\.[\w-]{8}\.[\w-]{16}\.[\w-]{22,}$/);
    t.equal(secrets.open(sealed, 'credential:acc_1:session'), plain);
    t.notOk(plain !== '' && sealed.includes(plain));
  }
  const sealed = secrets.seal('secret', 'here');
  t.not(secrets.seal('secret', 'here'), sealed, 'the same text never looks the same twice');
  t.throws(() => secrets.open(sealed, 'there'), /changed, or belongs to another place/);
  for (let at = 0; at < sealed.length; at += 1) {
    const other = sealed[at] === 'A' ? 'B' : 'A';
    const changed = `${sealed.slice(0, at)}${other}${sealed.slice(at + 1)}`;
    const bytes = (text: string) =>
      text
        .split('.')
        .map((part, n) => (n > 1 ? Buffer.from(part, 'base64url').toString('hex') : part));
    // The last letter of base64 may hold bits that stand for nothing.
    if (bytes(changed).join() === bytes(sealed).join()) continue;
    t.throws(() => secrets.open(changed, 'here'), `character ${at}`);
  }
  for (const wrong of ['', 'v1', 'v1.a.b.c', `v2${sealed.slice(2)}`, `${sealed}.x`, 'plain text']) {
    t.throws(() => secrets.open(wrong, 'here'), /not a sealed value/, wrong);
  }
});

t.test('changing the key', async (t) => {
  const before = makeSecrets(makeKeyring(oldSecret, null));
  const during = makeSecrets(makeKeyring(newSecret, oldSecret));
  const after = makeSecrets(makeKeyring(newSecret, ''));
  const sealed = before.seal('secret', 'here');
  t.notOk(before.isStale(sealed));
  t.ok(during.isStale(sealed));
  t.equal(during.open(sealed, 'here'), 'secret');
  const again = during.seal(during.open(sealed, 'here'), 'here');
  t.notOk(during.isStale(again));
  t.equal(after.open(again, 'here'), 'secret');
  t.throws(() => after.open(sealed, 'here'), /GATEWAY_SECRET_PREVIOUS/);
  t.throws(() => before.open(again, 'here'), /not configured/);

  t.equal(before.derive('cursor').length, 1);
  t.equal(during.derive('cursor').length, 2);
  t.same(during.derive('cursor')[1], before.derive('cursor')[0]);
  t.notSame(before.derive('cursor'), before.derive('media'));
  t.same(makeSecrets(makeKeyring(oldSecret, oldSecret)).derive('a').length, 1);
});

t.test('what is no secret', async (t) => {
  for (const wrong of [
    'x',
    randomBytes(31).toString('base64'),
    randomBytes(33).toString('base64'),
  ]) {
    t.throws(
      () => makeKeyring(wrong, null),
      /^GATEWAY_SECRET must be 32 bytes|GATEWAY_SECRET must/,
    );
    t.throws(() => makeKeyring(oldSecret, wrong), /GATEWAY_SECRET_PREVIOUS must be 32 bytes/);
  }
  t.same(makeKeyring(` ${oldSecret}\n`, undefined), makeKeyring(oldSecret, null));
  const url = Buffer.from(oldSecret, 'base64').toString('base64url');
  t.same(makeKeyring(url, null), makeKeyring(oldSecret, null), 'either alphabet');
});

t.test('cursors', async (t) => {
  const old = makeSecrets(makeKeyring(oldSecret, null));
  const cursors = makeCursors(old.derive('cursor'));
  for (const position of [0, 'text', null, [1_795_251_778_490, 'msg_01'], { a: { b: ['ä'] } }]) {
    const cursor = cursors.issue('list_messages', 'ten_1', position);
    t.match(cursor, /^[\w-]+$/);
    t.same(cursors.read('list_messages', 'ten_1', cursor), position);
    t.equal(cursors.issue('list_messages', 'ten_1', position), cursor);
  }
  const cursor = cursors.issue('list_messages', 'ten_1', [1, 'msg_1']);
  t.ok(cursor.length < 50, `${cursor.length} characters`);
  const ids = cursors.issue('list_contacts', 'ten_1', ['con_of_another_account']);
  t.notMatch(Buffer.from(ids, 'base64url').toString('latin1'), /con_|account/, 'cannot be read');
  const refused = (operation: string, tenant: string, text: string) =>
    t.throws(
      () => cursors.read(operation, tenant, text, 'before'),
      { code: 'invalid_cursor', details: [{ path: 'query/before' }] },
      `${operation} ${tenant} ${text}`,
    );
  refused('wait', 'ten_1', cursor);
  refused('list_messages', 'ten_2', cursor);
  refused('list_messagesten', '_1', cursor);
  const odd = [
    '',
    'x',
    '!',
    `${cursor}=`,
    `${cursor} `,
    `${cursor}A`,
    cursor.slice(1),
    'A'.repeat(5_000),
    '😀',
  ];
  for (const text of odd) refused('list_messages', 'ten_1', text);
  for (let at = 0; at < cursor.length; at += 1) {
    const other = cursor[at] === 'A' ? 'B' : 'A';
    refused('list_messages', 'ten_1', `${cursor.slice(0, at)}${other}${cursor.slice(at + 1)}`);
  }
  t.throws(() => cursors.read('list_messages', 'ten_1', 'x'), { code: 'invalid_cursor' });
  const during = makeCursors(makeSecrets(makeKeyring(newSecret, oldSecret)).derive('cursor'));
  t.same(during.read('list_messages', 'ten_1', cursor), [1, 'msg_1'], 'good while keys change');
  t.throws(() => makeCursors([]), /need a key/);
});

t.test('where the secret comes from', async (t) => {
  const dataDir = await mkdtemp(join(tmpdir(), 'secrets-'));
  t.teardown(() => rm(dataDir, { recursive: true, force: true }));
  const sources = {
    gateway_secret: null,
    gateway_secret_previous: null,
    data_dir: join(dataDir, 'data'),
    database_url: 'sqlite:./gateway.db',
  };
  await t.rejects(
    loadKeyring({ ...sources, database_url: 'mysql://user@host/gateway' }, false),
    /GATEWAY_SECRET is required/,
  );
  const given = await loadKeyring({ ...sources, gateway_secret: oldSecret }, false);
  t.same(given, makeKeyring(oldSecret, null));
  t.same(await readdir(dataDir), [], 'nothing is made when one is given');

  const file = 'test/plugins/secrets/loading-process.ts';
  const processes = [1, 2, 3].map(() => startProcess(t, [file, sources.data_dir]));
  const ids = await Promise.all(processes.map((started) => started.waitFor(/key ([\w-]+)/)));
  const own = await Promise.all([1, 2, 3, 4].map(() => loadKeyring(sources, false)));
  t.equal(new Set([...ids.map((match) => match[1]), ...own.map(([key]) => key.id)]).size, 1);
  t.same(await readdir(sources.data_dir), ['gateway-secret'], 'no draft is left');
  const path = join(sources.data_dir, 'gateway-secret');
  t.equal((await stat(path)).mode & 0o777, 0o600);
  t.same(makeKeyring(await readFile(path, 'utf8'), null), own[0]);

  const rotating = await loadKeyring({ ...sources, gateway_secret_previous: oldSecret }, false);
  t.equal(rotating.length, 2);
  await t.rejects(
    loadKeyring({ ...sources, gateway_secret_previous: 'x' }, false),
    /^.*GATEWAY_SECRET_PREVIOUS must/,
  );
  await writeFile(path, 'broken');
  await t.rejects(loadKeyring(sources, false), /gateway-secret in .* does not hold a secret/);
});

t.test('two makers at once within one process', async (t) => {
  const dataDir = await mkdtemp(join(tmpdir(), 'secrets-'));
  t.teardown(() => rm(dataDir, { recursive: true, force: true }));
  const sources = {
    gateway_secret: undefined,
    gateway_secret_previous: undefined,
    data_dir: dataDir,
    database_url: 'sqlite:x',
  };
  const keyrings = await Promise.all(Array.from({ length: 10 }, () => loadKeyring(sources, false)));
  t.equal(new Set(keyrings.map(([key]) => key.id)).size, 1);
  t.same(await readdir(dataDir), ['gateway-secret']);
});
