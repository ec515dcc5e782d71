import { once } from 'node:events';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import t, { type Test } from 'tap';
import { administer } from '../../../config/commands/administer.ts';
import type { AdministrationCommand } from '../../../config/commands/command.ts';
import { parseCommand } from '../../../config/commands/parse.ts';
import { composeAdministration } from '../../../config/compose-administration.ts';
import { readConfig } from '../../../config/read.ts';
import { createGateway } from '../../../core/kernel.ts';
import { createLog } from '../../../core/log.ts';
import { StartRefusal } from '../../../core/start-refusal.ts';
import { connect } from '../../../plugins/storage/connection.ts';
import { until } from '../../harness/story.ts';

const parsed = (line: string) => parseCommand(line.split(' ')) as AdministrationCommand;

async function emptyFolder(t: Test): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'administer-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

t.test('a command in the wrong folder says so, and leaves nothing there', async (t) => {
  const folder = await emptyFolder(t);
  const file = join(folder, 'gateway.db');
  for (const line of [
    'tenants list',
    'tenants create --name Acme --mode test --plan free',
    'tenants update ten_1 --plan free',
    'tenants delete ten_1 --yes',
    'keys create --tenant ten_1',
    'keys list --tenant ten_1',
    'keys revoke key_1',
    'audit',
    'secrets reseal',
  ]) {
    const refusal = await administer(parsed(line), { DATA_DIR: folder }).catch((error) => error);
    t.type(refusal, StartRefusal, line);
    t.match(refusal.message, `There is no database at ${file}: correct DATABASE_URL or DATA_DIR;`);
  }
  t.same(await readdir(folder), []);
});

t.test('tenants can be made before the first start, once the database was asked for', async (t) => {
  const env = { DATA_DIR: await emptyFolder(t) };
  const { json } = await administer(parsed('migrate'), env);
  t.same(json, { migrated: true });
  const written = t.capture(process.stderr, 'write', () => true);
  const make = parsed('tenants create --name Acme --mode test --plan free');
  const made = (await administer(make, env)).json as { readonly key_id: string };
  const lines = written().map(({ args }) => JSON.parse(String(args[0])));
  const { key_id: key } = made;
  t.match(lines, [{ level: 30, key, msg: 'a tenant was made, with its first key' }], 'as logged');
  t.equal(lines.length, 1);
  const file = join(env.DATA_DIR, 'config.json');
  await writeFile(file, '{"log_level": "warn"}');
  await administer(parsed(`keys revoke ${key}`), { ...env, GATEWAY_CONFIG: file });
  t.same(written(), [], 'at the level of the file');
  t.match(await administer(parsed('tenants list'), env), { json: { tenants: [{ name: 'Acme' }] } });
});

t.test('only who serves warns of plans that its environment does not have', async (t) => {
  const env = { DATA_DIR: await emptyFolder(t) };
  await administer(parsed('migrate'), env);
  const gold = {
    ...env,
    GATEWAY_PLANS__GOLD: '{"sends_cap":1,"new_contacts_cap":1,"accounts_cap":1}',
  };
  await administer(parsed('tenants create --name Acme --mode test --plan gold'), gold);
  const written = t.capture(process.stderr, 'write', () => true);
  await administer(parsed('tenants list'), env);
  t.same(
    written().map(({ args }) => String(args[0])),
    [],
  );
  const lines = new PassThrough();
  const log = createLog('warn', lines);
  const gateway = await createGateway(composeAdministration(readConfig(env), log, 'tenants'));
  t.teardown(() => gateway.close());
  t.equal(lines.readableLength, 0);
  const warned = once(lines, 'data');
  await gateway.listen('127.0.0.1', 0);
  t.match(String(await warned), /"plan":"gold".*allows nothing/, 'who serves does');
});

t.test('only who serves deletes old entries and keys now and then', async (t) => {
  const prunes = async (isServing: boolean) => {
    const env = { DATA_DIR: await emptyFolder(t) };
    await administer(parsed('migrate'), env);
    const config = readConfig(env);
    const soon = {
      audit: { keep_days: 1e-5 },
      tenants: { ...config.tenants, ended_keys_days: 1e-5 },
    };
    const parts = composeAdministration({ ...config, ...soon }, createLog('silent'), 'tenants');
    const gateway = await createGateway(parts);
    t.teardown(() => gateway.close());
    const { storage } = gateway.cradle;
    const submitted = t.capture(storage, 'submit', storage.submit);
    if (isServing) await gateway.listen('127.0.0.1', 0);
    const lanes: string[] = [];
    return () => {
      lanes.push(...submitted().map(({ args: [lane] }) => lane.name));
      return lanes;
    };
  };
  const administered = await prunes(false);
  const served = await prunes(true);
  // Rounds are as far apart in both, and those of the first would have begun earlier.
  for (const lane of ['audit.prune', 'keys.prune']) {
    await until(`three rounds of ${lane}`, async () => {
      return served().filter((one) => one === lane).length >= 3 || undefined;
    });
  }
  t.strictSame(administered(), []);
});

t.test('a command that is cut off has an entry that says whom and what', async (t) => {
  const env = { DATA_DIR: await emptyFolder(t), LOG_LEVEL: 'silent' };
  await administer(parsed('migrate'), env);
  const made = await administer(parsed('tenants create --name A --mode test --plan free'), env);
  const { tenant, key_id } = made.json as { readonly tenant: { id: string }; key_id: string };
  const connections = connect(`sqlite:${join(env.DATA_DIR, 'gateway.db')}`, createLog('silent'));
  for (const change of ['update on tenants', 'insert on api_keys', 'update on api_keys']) {
    const name = change.replaceAll(' ', '_');
    const fails = "begin select raise(abort, 'cut off'); end";
    await connections.write.raw(`create trigger ${name} before ${change} ${fails}`);
  }
  await connections.close();
  const { id } = tenant;
  for (const [line, tenantId, target] of [
    [`tenants update ${id} --status suspended`, id, id],
    [`tenants delete ${id} --yes`, null, id],
    [`keys create --tenant ${id}`, id, null],
    [`keys revoke ${key_id}`, null, key_id],
  ] as const) {
    await t.rejects(administer(parsed(line), env), line);
    const { json } = await administer(parsed('audit --limit 1'), env);
    const entry = { operation: line.split(' ', 2).join(' '), tenant_id: tenantId, target };
    t.match(json, { entries: [{ ...entry, outcome: 'unknown' }] }, line);
  }
});
