import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { contents } from '../../config/tables.ts';
import { createLog } from '../../core/log.ts';
import { makeKeyring } from '../../plugins/secrets/keyring.ts';
import { makeSecrets } from '../../plugins/secrets/sealing.ts';
import type { DatabasePools } from '../../plugins/storage/connection.ts';
import { makeStorage } from '../../plugins/storage/storage.ts';
import { answered, callSend, stateOf } from '../harness/confirmed-sends.ts';
import { storyDatabases } from '../harness/databases.ts';
import { runGateway } from '../harness/gateway.ts';
import { startProcess } from '../harness/processes.ts';
import { header, judge, startReceiver } from '../harness/receiver.ts';
import { scaled } from '../harness/scale.ts';
import { bodyOf, connected, pair, phoneNumber, sendAccepted, until } from '../harness/story.ts';

const newSecret = (): string => randomBytes(32).toString('base64');

/** How many credentials there are to be sealed anew. */
const many = scaled(20_000, 3_000);

/** Runs a command to its end and answers its exit code and what it printed. */
async function run(t: Test, env: NodeJS.ProcessEnv, ...words: readonly string[]) {
  const started = startProcess(t, ['main.ts', ...words], { ...env, LOG_LEVEL: 'warn', PORT: '0' });
  const giveUp = setTimeout(() => void started.kill('SIGKILL'), 180_000);
  const { code } = await started.exit;
  clearTimeout(giveUp);
  await new Promise((resolve) => setTimeout(resolve, 50));
  return { code, output: started.output };
}

/** Keeps the last credential from being sealed anew; the function that it answers ends that. */
async function holdLast({ dialect, write }: DatabasePools): Promise<() => Promise<unknown>> {
  const inOrder = write('credentials').orderBy('account_id', 'desc').orderBy('name', 'desc');
  const last: { account_id: string; name: string } = await inOrder.first('account_id', 'name');
  if (dialect === 'mysql') {
    const holding = await write.transaction();
    await holding.raw(
      'set session idle_transaction_timeout = 0, session idle_write_transaction_timeout = 0',
    );
    await holding('credentials').where(last).forUpdate();
    return () => holding.rollback();
  }
  // SQLite locks no row: a trigger that counts for days holds up who writes this one.
  const count = 'select count(*) from credentials a, credentials b, credentials c';
  const when = `old.account_id = '${last.account_id}' and old.name = '${last.name}'`;
  await write.raw(
    `create trigger held before update on credentials when ${when} begin ${count}; end`,
  );
  return () => write.raw('drop trigger held');
}

for (const { name, create } of storyDatabases('mariadb')) {
  t.test(`the secret of a gateway is changed, ${name}`, async (t) => {
    const database = await create(t);
    const dataDir = await mkdtemp(join(tmpdir(), 'gateway-'));
    t.teardown(() => rm(dataDir, { recursive: true, force: true }));
    const [before, after] = [newSecret(), newSecret()];
    const place = { DATABASE_URL: database.url, DATA_DIR: dataDir };
    const start = (settings: Readonly<Record<string, string>>) =>
      runGateway(t, { databaseUrl: database.url, dataDir, settings });
    const old = await start({ GATEWAY_SECRET: before });
    const keys = { TEST_API_KEY: old.key, LIVE_API_KEY: old.liveKey };
    const phone = phoneNumber(1);
    const account_id = await pair(old.api, phone);
    const receiver = await startReceiver(t);
    const hook = { name: 'hook', url: receiver.url(), subscribed_to: ['message.sent'] };
    const signed = { ...hook, enabled: false, generate_signing_secret: true };
    t.equal((await old.api.post('/webhooks', signed)).status, 201);
    const rotated = await old.api.post('/webhooks/hook/signing-secret');
    const { signing_secret } = bodyOf<{ signing_secret: string }>(rotated);
    const agent = { name: 'Agent', confirm_sends: true };
    const agentKey = bodyOf<{ key: string }>(await old.api.post('/keys', agent)).key;
    const confirmed = { body: { account_id, to: { phone: phoneNumber(1000) }, text: 'confirmed' } };
    const form = async () => stateOf(await callSend(old, agentKey, confirmed));
    const forms = [await form(), await form()] as const;
    t.equal(await old.stop(), 0);

    const swapped = await run(t, { ...place, GATEWAY_SECRET: after }, 'serve');
    t.equal(swapped.code, 1, 'another secret is refused');
    t.match(swapped.output, /The database is sealed with another secret .* GATEWAY_SECRET/);
    t.notMatch(swapped.output, /\n +at |"stack"/);

    const storage = makeStorage({ url: database.url, log: createLog('silent'), contents });
    t.teardown(() => storage.close());
    const { read, write } = storage.connections;
    const sealer = makeSecrets(makeKeyring(before, null));
    for (let n = 0; n < many; n += 500) {
      const rows = Array.from({ length: 500 }, (_, m) => {
        const place = { account_id: `acc_${n}`, name: `key-${m}` };
        const context = `credential:${place.account_id}:${place.name}`;
        return { ...place, value: sealer.seal('x'.repeat(200), context) };
      });
      await write('credentials').insert(rows);
    }
    const current = makeSecrets(makeKeyring(after, null));
    const stale = async (): Promise<number> => {
      const values: string[] = await read('credentials').pluck('value');
      return values.filter((value) => current.isStale(value)).length;
    };

    const both = { GATEWAY_SECRET: after, GATEWAY_SECRET_PREVIOUS: before };
    const during = await start({ ...both, ...keys });
    await connected(during.api, phone);
    const yes = answered(forms[0]);
    const taken = await callSend(during, agentKey, confirmed, yes);
    const sent = { isError: false, structuredContent: { id: /^msg_/ } };
    t.match(taken.result, sent, 'a form that was open is good for the message');
    const twice = await callSend(during, agentKey, confirmed, yes);
    t.same(twice.result, taken.result, 'once');
    const all = await stale();
    t.ok(all > many, `${all} values are sealed with the previous secret`);

    const release = await holdLast(storage.connections);
    const killed = startProcess(t, ['main.ts', 'secrets', 'reseal'], { ...place, ...both });
    await until('some to be sealed anew', async () => ((await stale()) < all ? true : undefined));
    t.same(await killed.kill('SIGKILL'), { code: null, signal: 'SIGKILL' }, 'in the middle');
    await release();
    const left = await stale();
    t.ok(left > 0 && left < all, `killed when ${left} of ${all} were left`);
    await sendAccepted(during.api, { account_id, to: { phone: phoneNumber(1000) } });
    const repeated = await run(t, { ...place, ...both }, 'secrets', 'reseal', '--json');
    t.equal(repeated.code, 0, repeated.output);
    // Lines of the log may be beside the answer.
    const answer = repeated.output.split('\n').find((line) => line.startsWith('{"resealed"'));
    const told = JSON.parse(answer ?? repeated.output) as { resealed: { credentials: number } };
    t.ok(told.resealed.credentials >= left, `it says how many: ${repeated.output}`);
    t.match(told, { unreadable: 0 });
    t.equal(await stale(), 0, 'all are sealed anew');
    await sendAccepted(during.api, { account_id, to: { phone: phoneNumber(1000) } });
    t.equal(await during.stop(), 0);

    const former = await run(t, { ...place, GATEWAY_SECRET: before }, 'serve');
    t.equal(former.code, 1, 'the secret before is refused from now on');
    const alone = await start({ GATEWAY_SECRET: after, ...keys });
    await connected(alone.api, phone);
    await sendAccepted(alone.api, { account_id, to: { phone: phoneNumber(1000) } });
    t.match(await alone.api.post('/webhooks/hook/test'), { body: { delivered: true } });
    const late = await callSend(alone, agentKey, confirmed, answered(forms[1]));
    const asksAnew = { code: -32_602, message: /call without it to ask anew$/ };
    t.match(late.error, asksAnew, 'a form from before is refused, and says what to do');
    const verdicts = receiver.received.map((one) => judge(one, signing_secret));
    t.same(verdicts, ['genuine'], 'a receiver goes on verifying with the secret that it has');
    const [first] = receiver.received.map((one) => header(one, 'webhook-signature'));
    t.match(first, /^v1,\S+ v1,\S+$/, 'the secret before the rotation signs on');
    t.equal(await alone.stop(), 0);
  });
}

t.test('a secret file that was removed: the start is refused, and makes none', async (t) => {
  const dataDir = await mkdtemp(join(tmpdir(), 'gateway-'));
  t.teardown(() => rm(dataDir, { recursive: true, force: true }));
  const migrated = startProcess(t, ['main.ts', 'serve'], { DATA_DIR: dataDir, PORT: '0' });
  await migrated.waitFor(/The messaging gateway is ready/, 60_000);
  t.equal((await migrated.kill('SIGTERM')).code, 0);
  const file = join(dataDir, 'gateway-secret');
  await rm(file);
  const refused = await run(t, { DATA_DIR: dataDir }, 'serve');
  t.equal(refused.code, 1);
  t.match(
    refused.output,
    `${file} is missing, and the database is sealed with a secret: put the file back`,
  );
  t.notMatch(refused.output, /\n +at |"stack"/);
  t.notOk((await readdir(dataDir)).includes('gateway-secret'));
});
