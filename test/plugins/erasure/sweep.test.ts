import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t from 'tap';
import { createLog } from '../../../core/log.ts';
import {
  forgetOpenersLane,
  makeEraseLane,
  makeEraseSomeLane,
} from '../../../plugins/contacts/erase.ts';
import type { ErasureStep } from '../../../plugins/erasure/contract.ts';
import { ErasureSweep } from '../../../plugins/erasure/sweep.ts';
import { eraseSome, failUndispatched } from '../../../plugins/messages/forget-contact.ts';
import { log, run } from '../../fixtures/process.ts';
import { notHeldUp } from '../../harness/beside.ts';
import { databases, engines } from '../../harness/databases.ts';
import { storeMany } from '../../harness/many-messages.ts';
import { scale, scaled } from '../../harness/scale.ts';
import { until } from '../../harness/story.ts';
import { acceptedId, codeOf, FakeSession, makeTenant, openStage } from '../messages/stage.ts';

const phone = '+12025550177';
const secret = 'a word of Ada alone';
const reporter = { report: async () => undefined };

for (const engine of databases) {
  t.test(`a killed erasure is gone on with until nothing is left, ${engine.name}`, async (t) => {
    const database = await engine.create(t);
    const stage = await openStage(t, database.url);
    const { storage } = stage;
    const { tenantId, accountIds } = await makeTenant(stage);
    const neighbour = await makeTenant(stage);
    const queued = acceptedId(await stage.send({ tenantId, phone, text: secret }));
    const [message] = await storage.read.messages.byIds([queued]);
    const contactIds = [message?.contactId ?? ''];
    const accountId = accountIds[0] ?? '';
    const many = { tenantId, accountId, contactIds, text: `${secret} ${phone}` };
    await storeMany(storage, {
      ...many,
      count: scale < 1 ? 2_000 : scaled(1_000_000),
      at: 1_000_000,
    });

    const begin = makeEraseLane({
      async beginErasing(unit, ...of) {
        await failUndispatched(unit, ...of, 'contact_erased', reporter);
      },
    });
    const id = contactIds[0] ?? '';
    const erasure = await storage.submit(begin, { tenantId, id });
    if (erasure === null) throw new Error('nothing was begun');
    t.equal(erasure.id, id);
    t.equal(await storage.submit(begin, { tenantId, id }), null, 'nobody finds the contact again');
    const some = makeEraseSomeLane({ eraseSome: (...of) => eraseSome(...of, 0, reporter) });
    t.equal(await storage.submit(some, erasure), true, 'the first step is not the last');
    // The process dies here. Another one starts some time later.
    await storage.connections.write('erasures').update({ created_at: 1 });
    const sweep = new ErasureSweep({ storage, sweepMedia: async () => undefined, log });
    sweep.add('con', (erasure) => storage.submit(some, erasure));
    t.teardown(() => sweep.stop());
    await notHeldUp(
      t,
      'sends beside the erasure of one person',
      async () => acceptedId(await stage.send({ tenantId: neighbour.tenantId })),
      async () => {
        sweep.start();
        await sweep.finish(erasure);
      },
    );
    t.equal(await storage.read.erasures.has(id), false, 'it has ended');
    const { read } = storage.connections;
    t.match(await read('messages').where({ contact_id: id }), [{ id: queued, text: '' }]);
    t.match(await read('threads').where({ contact_id: id }), []);
    for (const table of ['messages', 'events', 'contacts', 'deliveries', 'idempotency_keys']) {
      const rows = JSON.stringify(await read(table).whereNot('tenant_id', neighbour.tenantId));
      for (const trace of [phone, secret]) t.notMatch(rows, trace, table);
    }
    if (engine.name !== 'sqlite') return;
    const folder = dirname(database.url.slice('sqlite:'.length));
    for (const name of readdirSync(folder)) {
      const bytes = readFileSync(join(folder, name));
      for (const trace of [phone, secret]) t.notOk(bytes.includes(trace), `${trace} in ${name}`);
    }
  });
}

for (const engine of databases) {
  t.test(`what waits for an erased contact fails in steps, ${engine.name}`, async (t) => {
    const database = await engine.create(t);
    const stage = await openStage(t, database.url);
    const { storage } = stage;
    const { read } = storage.connections;
    const { tenantId, accountIds } = await makeTenant(stage);
    const [message] = await storage.read.messages.byIds([
      acceptedId(await stage.send({ tenantId, phone, text: secret })),
    ]);
    const id = message?.contactId ?? '';
    const accountId = accountIds[0] ?? '';
    const many = { tenantId, accountId, contactIds: [id], at: 1_000_000 };
    await storeMany(storage, { ...many, count: 250, queued: true });
    const begin = makeEraseLane({
      async beginErasing(unit, ...of) {
        await failUndispatched(unit, ...of, 'contact_erased', reporter);
      },
    });
    const erasure = await storage.submit(begin, { tenantId, id });
    if (erasure === null) throw new Error('nothing was begun');
    const waiting = () => read('messages').where({ contact_id: id, status: 'queued' });
    t.equal((await waiting()).length, 151, 'a hundred in the transaction that erases');
    const session = new FakeSession(tenantId, accountId, stage.broker.processId);
    t.equal(await stage.dispatch(session, (await waiting())[0]?.id), null, 'none of them is sent');
    const some = makeEraseSomeLane({ eraseSome: (...of) => eraseSome(...of, 0, reporter) });
    const sweep = new ErasureSweep({ storage, sweepMedia: async () => undefined, log });
    sweep.add('con', (begun) => storage.submit(some, begun));
    t.teardown(() => sweep.stop());
    await sweep.finish(erasure);
    const left = read('messages').select('status', 'text', 'error').count('* as count');
    t.match(await left.where({ contact_id: id }).groupBy('status', 'text', 'error'), [
      { status: 'failed', text: '', error: /^contact_erased: /, count: 251 },
    ]);
    t.match(await read('threads').where({ contact_id: id }), []);
  });
}

t.test('erasures that cannot be gone on with hold up none behind them', async (t) => {
  const { url } = await engines.sqlite.create(t);
  const { storage } = await openStage(t, url);
  const ids = Array.from({ length: 230 }, (_, n) => `con_${String(n).padStart(3, '0')}`);
  await run(storage, async (unit) => {
    for (const id of ids) {
      await unit.erasures.begin({ id, tenantId: 'ten_1', contactId: null, address: null }, 1);
    }
  });
  const done: string[] = [];
  const lines: string[] = [];
  const written = createLog('info', { write: (line) => lines.push(line) });
  const sweep = new ErasureSweep({ storage, sweepMedia: async () => undefined, log: written });
  let release: () => void = () => undefined;
  const stuck = new Promise<boolean>((resolve) => {
    release = () => resolve(false);
  });
  sweep.add('con', async ({ id }) => {
    if (id === ids[0]) return stuck;
    if (id < 'con_220') throw new Error('nobody answers');
    done.push(id);
    return false;
  });
  sweep.start();
  await until('the last to be done', async () => (done.length === 10 ? true : undefined));
  t.same(done.sort(), ids.slice(220));
  t.ok(lines.length < 20, `${lines.length} lines tell of 219 that fail alike`);
  t.match(lines[0], /nobody answers/);
  release();
  await sweep.stop();
});

t.test(
  'erasures that wait for others hold up none, and no stop',
  { timeout: 60_000 },
  async (t) => {
    const { url } = await engines.sqlite.create(t);
    const { storage } = await openStage(t, url);
    const stuck = Array.from({ length: 20 }, (_, n) => `con_${String(n).padStart(2, '0')}`);
    const begin = (ids: readonly string[]) =>
      run(storage, async (unit) => {
        for (const id of ids) {
          await unit.erasures.begin({ id, tenantId: 'ten_1', contactId: null, address: null }, 1);
        }
      });
    await begin([...stuck, 'con_20', 'ten_1']);
    const done: string[] = [];
    const begun: string[] = [];
    let release: () => void = () => undefined;
    const released = new Promise<boolean>((resolve) => {
      release = () => resolve(false);
    });
    const sweep = new ErasureSweep({ storage, sweepMedia: async () => undefined, log });
    const step: ErasureStep = async ({ id }) => {
      begun.push(id);
      if (stuck.includes(id)) return released;
      done.push(id);
      return false;
    };
    for (const prefix of ['con', 'ten'] as const) sweep.add(prefix, step);
    sweep.start();
    await until('the others', async () => (done.length === 2 ? true : undefined));
    t.same(done, ['ten_1', 'con_20'], 'a tenant waits for no contact');
    t.equal(new Set(begun).size, begun.length, 'each is gone on with, once');
    // More than are under way at once.
    const more = Array.from({ length: 60 }, (_, n) => `con_${n + 30}`);
    stuck.push(...more);
    await begin(more);
    await until('as many as may be', async () => begun.length > 52 || undefined);
    await sweep.stop();
    t.equal(await storage.read.erasures.has('con_00'), true);
    release();
    await released;
  },
);

for (const engine of databases) {
  t.test(`an erasure gives no opener back, ${engine.name}`, async (t) => {
    const database = await engine.create(t);
    const stage = await openStage(t, database.url, { openers: 5 });
    const { storage } = stage;
    const { read, write } = storage.connections;
    const { tenantId } = await makeTenant(stage);
    const begin = makeEraseLane({
      async beginErasing(unit, ...of) {
        await failUndispatched(unit, ...of, 'contact_erased', reporter);
      },
    });
    const some = makeEraseSomeLane({ eraseSome: (...of) => eraseSome(...of, 60_000, reporter) });
    const sweep = new ErasureSweep({ storage, sweepMedia: async () => undefined, log });
    sweep.add('con', (erasure) => storage.submit(some, erasure));
    sweep.add('opn', (erasure) => storage.submit(forgetOpenersLane, erasure));
    t.teardown(() => sweep.stop());
    sweep.start();
    const stranger = (n: number) => stage.send({ tenantId, phone: `+1202555017${n}` });
    const erase = async (messageId: string): Promise<string> => {
      const [message] = await storage.read.messages.byIds([messageId]);
      const id = message?.contactId ?? '';
      const erasure = await storage.submit(begin, { tenantId, id });
      if (erasure === null) throw new Error('nothing was begun');
      await sweep.finish(erasure);
      t.equal(await storage.read.erasures.has(id), false, 'it has ended');
      return id;
    };
    const first = acceptedId(await stranger(1));
    const [answered] = await storage.read.messages.byIds([first]);
    await write('threads').update({ inbound_at: answered?.createdAt ?? 0 });
    const ids = [await erase(first)];
    ids.push(await erase(acceptedId(await stranger(1))));
    t.not(ids[1], ids[0], 'whom nobody knows any more is a stranger again');
    for (const n of [2, 3, 4]) ids.push(await erase(acceptedId(await stranger(n))));
    t.equal(codeOf(await stranger(5)), 'opener_burst', 'the sixth within a minute');
    const threads = () => read('threads').whereIn('contact_id', ids);
    t.same(await threads().distinct('inbound_at'), [{ inbound_at: null }]);

    t.equal((await threads()).length, 5);
    const waiting = await read('erasures').where('id', 'like', 'opn%');
    t.equal(waiting.length, 5);
    const [opened] = await threads().min('opened_at as at');
    const due = waiting.map(({ created_at }) => created_at);
    t.ok(
      Math.min(...due) >= (opened?.at ?? Number.NaN) + 60_000,
      'until none of them counts any more',
    );
    await write('threads').update({ opened_at: 1 });
    await write('erasures').update({ created_at: 1 });
    await until('the end', async () => (await read('erasures')).length === 0 || undefined, 20_000);
    t.same(await threads(), [], 'and nothing is left');
    acceptedId(await stranger(5));
  });
}
