import t from 'tap';
import { DriverError } from '../../../../core/contracts/driver.ts';
import { createLog } from '../../../../core/log.ts';
import { messageView } from '../../../../plugins/messages/read/view.ts';
import { startMessageUpkeep } from '../../../../plugins/messages/upkeep.ts';
import { databases } from '../../../harness/databases.ts';
import { storeMany } from '../../../harness/many-messages.ts';
import { until } from '../../../harness/story.ts';
import { acceptedId, FakeSession, makeTenant, openStage, startSession } from '../stage.ts';

const expireMs = 30_000;

for (const engine of databases) {
  t.test(`a long queue expires in short transactions, ${engine.name}`, async (t) => {
    const database = await engine.create(t);
    const stage = await openStage(t, database.url, { expireMs });
    const { storage } = stage;
    const { expire } = stage.lanes;
    const { tenantId, accountIds } = await makeTenant(stage);
    const accountId = accountIds[0] ?? '';
    const { read, write } = storage.connections;
    const first = acceptedId(await stage.send({ tenantId }));
    await write('messages').where({ id: first }).update({ created_at: 1_000_000 });
    const [message] = await storage.read.messages.byIds([first]);
    const many = { tenantId, accountId, contactIds: [message?.contactId ?? ''], at: 1_000_000 };
    await storeMany(storage, { ...many, count: 999, queued: true });
    await write('accounts').where({ id: accountId }).update({ outbound_sequence: 5_000 });
    const young = acceptedId(await stage.send({ tenantId }));
    const failed = async () => (await read('messages').where({ status: 'failed' })).length;
    t.equal(await expire(accountId), true);
    t.equal(await failed(), 100, 'one transaction fails so many');
    const upkeep = startMessageUpkeep({
      ...{ storage, expire, expireMs, idempotencyMs: expireMs, keptMs: 0 },
      sweepMedia: () => undefined,
      log: createLog('silent'),
    });
    await until('the others', async () => ((await failed()) === 1_000 ? true : undefined));
    await upkeep.stop();
    t.equal(await expire(accountId), false);
    t.match(await read('messages').where({ status: 'queued' }), [{ id: young }]);
    const events = await read('events').where({ type: 'message.failed' });
    t.equal(new Set(events.map(({ subject }) => subject)).size, 1_000, 'each is told of');
    t.equal(events.length, 1_000, 'once');
  });
  t.test(`what was under way when its network was lost ends in time, ${engine.name}`, async (t) => {
    const database = await engine.create(t);
    const stage = await openStage(t, database.url, { expireMs });
    const { read, write } = stage.storage.connections;
    const { tenantId, accountIds } = await makeTenant(stage);
    const accountId = accountIds[0] ?? '';
    const [unanswered = '', taken = '', young = '', undispatched = ''] = await Promise.all(
      [1, 2, 3, 4].map(async () => acceptedId(await stage.send({ tenantId }))),
    );
    const handedOver = { dispatched_at: 1_000_000, attempts: 1, dispatch_fence: 1 };
    await write('messages').where('id', '<>', undispatched).update(handedOver);
    await write('messages').where('id', '<>', young).update({ created_at: 1_000_000 });
    await write('messages').where({ id: taken }).update({ sent_at: 1_000_500 });
    const due = async () => {
      const before = (await stage.storage.now()) - expireMs;
      return await stage.storage.read.queuedMessages.accountsToExpire(before, 10);
    };
    const status = async (id: string) => {
      const [row] = await read('messages').where({ id });
      return `${row.status} ${row.error?.split(':')[0] ?? ''}`;
    };

    t.same(await due(), [accountId]);
    t.equal(await stage.lanes.expire(accountId), false);
    t.equal(await status(undispatched), 'failed expired');
    t.equal(await status(unanswered), 'queued ', 'the answer may come while it is connected');
    t.same(await due(), []);

    await write('accounts').where({ id: accountId }).update({ status: 'connecting' });
    t.same(await due(), [accountId]);
    t.equal(await stage.lanes.expire(accountId), false);
    t.equal(await status(unanswered), 'failed delivery_uncertain');
    t.equal(await status(taken), 'sent ', 'a receipt has shown it');
    t.equal(await status(young), 'queued ');
    t.same(await due(), []);
  });
  t.test(`what is under way in a restricted account may be answered, ${engine.name}`, async (t) => {
    const database = await engine.create(t);
    const stage = await openStage(t, database.url, { expireMs });
    const { read, write } = stage.storage.connections;
    const { tenantId, accountIds } = await makeTenant(stage);
    const accountId = accountIds[0] ?? '';
    const [underWay = '', given = ''] = await Promise.all(
      [1, 2].map(async () => acceptedId(await stage.send({ tenantId }))),
    );
    const now = await stage.storage.now();
    const handedOver = { created_at: 1_000_000, attempts: 1, dispatch_fence: 1 };
    await write('messages').update({ ...handedOver, dispatched_at: now });
    await write('accounts').where({ id: accountId }).update({ status: 'restricted' });
    const due = () => stage.storage.read.queuedMessages.accountsToExpire(now - expireMs, 10);
    const queued = () => read('messages').where({ status: 'queued' }).pluck('id');

    t.same(await due(), []);
    t.equal(await stage.lanes.expire(accountId), false);
    t.same((await queued()).length, 2, 'its session is open');

    await write('messages')
      .where({ id: given })
      .update({ dispatched_at: now - expireMs - 1 });
    t.same(await due(), [accountId]);
    t.equal(await stage.lanes.expire(accountId), false);
    t.same(await queued(), [underWay], 'no answer takes as long as an expiry');
    t.same(await due(), []);
  });
  t.test(`what a session that is gone has left ends in time, ${engine.name}`, async (t) => {
    const database = await engine.create(t);
    const stage = await openStage(t, database.url, { expireMs });
    const { storage } = stage;
    const { read, write } = storage.connections;
    const { tenantId, accountIds } = await makeTenant(stage, 6);
    const [open = '', unowned = '', parked = '', taken = '', freed = '', silent = ''] = accountIds;
    const now = await storage.now();
    await Promise.all(
      accountIds.flatMap((accountId) =>
        ['long ago', 'young', 'just now'].map((text) => stage.send({ tenantId, accountId, text })),
      ),
    );
    const long = now - expireMs - 1_000;
    const handedOver = { created_at: long, dispatched_at: long, attempts: 1, dispatch_fence: 1 };
    await write('messages').update(handedOver);
    await write('messages').where({ text: 'young' }).update({ created_at: now });
    await write('messages').where({ text: 'just now' }).update({ dispatched_at: now });
    await stage.run(async (unit) => {
      const owner = stage.broker.processId;
      await unit.leases.rows.release([{ id: unowned, owner, number: 1 }]);
      await unit.leases.take([parked, taken], 'another', now + 9_000, 9_000);
      await unit.leases.take([freed], 'dead', now + 9_000, 9_000);
      await unit.leases.take([silent], 'silent', long, 9_000);
      await unit.leaseHolders.expire(['dead']);
    });
    // Another session has repeated it, and one of these owners had handed it over before it died.
    const owned = [taken, freed, silent];
    await write('messages').whereIn('account_id', owned).update({ dispatch_fence: 2 });
    const due = () => storage.read.queuedMessages.accountsToExpire(now - expireMs, 10);

    const gone = [unowned, parked, freed, silent];
    t.same([...(await due())].sort(), [...gone].sort());
    for (const id of accountIds) t.equal(await stage.lanes.expire(id), false);
    const failed = await read('messages').where({ status: 'failed' });
    const ends = failed.map((row) => [row.account_id, row.text, row.error.split(':')[0]]);
    t.same(
      ends.sort(),
      gone.map((id) => [id, 'long ago', 'delivery_uncertain']).sort(),
      'what was handed over just now may wait for a session that moves',
    );
    const left = await read('messages').where({ status: 'queued', text: 'long ago' });
    t.same(left.map((row) => row.account_id).sort(), [open, taken].sort(), 'may be answered yet');
    t.same(await due(), []);
  });
  t.test(`what expires says why its last try came to nothing, ${engine.name}`, async (t) => {
    const database = await engine.create(t);
    const stage = await openStage(t, database.url, { expireMs });
    const { storage } = stage;
    const { read, write } = storage.connections;
    const { tenantId, accountIds } = await makeTenant(stage);
    const accountId = accountIds[0] ?? '';
    const session = new FakeSession(tenantId, accountId, stage.broker.processId);
    session.capabilities = { ...session.capabilities, window: 2 };
    session.answer = async ({ text, attempt }) => {
      if (text === 'twice' && attempt === 1) {
        throw new DriverError('no_answer', 'the network went silent', { certain: false });
      }
      const facts = { certain: true, retryAfterMs: 3_600_000, concerns: 'contact' } as const;
      throw new DriverError('flood_wait', 'the network wants a pause', facts);
    };
    await startSession(t, stage, session);
    const once = acceptedId(await stage.send({ tenantId, text: 'once' }));
    const phone = '+12025550124';
    const twice = acceptedId(await stage.send({ tenantId, phone, text: 'twice' }));
    await until('the tries', async () => {
      const rows = await read('messages').whereNull('dispatch_fence');
      return session.handed.length === 3 && rows.length === 2 ? true : undefined;
    });
    const shown = async (id: string) => {
      const message = await storage.read.messages.find(tenantId, id);
      return message === null ? null : messageView(message, () => '');
    };
    for (const id of [once, twice]) t.match(await shown(id), { status: 'queued', error: null });

    await write('messages').update({ created_at: 1_000_000 });
    await write('messages').where({ id: twice }).update({ dispatched_at: 1_000_000 });
    t.equal(await stage.lanes.expire(accountId), false);
    const why = /\(flood_wait: the network wants a pause\)$/;
    t.match((await shown(once))?.error, /^expired: /);
    t.match((await shown(once))?.error, why);
    t.match((await shown(twice))?.error, /^delivery_uncertain: /);
    t.match((await shown(twice))?.error, why);
  });
}
