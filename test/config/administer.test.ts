import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { administer } from '../../config/commands/administer.ts';
import type { AdministrationCommand } from '../../config/commands/command.ts';
import { parseCommand } from '../../config/commands/parse.ts';
import { createLog } from '../../core/log.ts';
import { StartRefusal } from '../../core/start-refusal.ts';
import { connect } from '../../plugins/storage/connection.ts';

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
  await administer(parsed('tenants create --name Acme --mode test --plan free'), env);
  t.match(await administer(parsed('tenants list'), env), { json: { tenants: [{ name: 'Acme' }] } });
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
