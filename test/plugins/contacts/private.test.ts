import t from 'tap';
import { makeContactChangeLane } from '../../../plugins/contacts/change.ts';
import { ContactChanger } from '../../../plugins/contacts/contact-changer.ts';
import { ErasureSweep } from '../../../plugins/erasure/sweep.ts';
import { log } from '../../fixtures/process.ts';
import { notHeldUp } from '../../harness/beside.ts';
import { databases } from '../../harness/databases.ts';
import { storeMany } from '../../harness/many-messages.ts';
import { scale, scaled } from '../../harness/scale.ts';
import { until } from '../../harness/story.ts';
import {
  acceptedId,
  FakeSession,
  forgetContact,
  forgetSome,
  makeTenant,
  openStage,
  type Stage,
} from '../messages/stage.ts';
import { addWebhook, Internet, openEngine, raise } from '../webhooks/engine-world.ts';

const messages = { forgetContact, forgetSome };
const running = new AbortController().signal;

/** A contact with one message that waits. */
async function makeContact(stage: Stage) {
  const { tenantId, accountIds } = await makeTenant(stage);
  const queued = acceptedId(await stage.send({ tenantId }));
  const [message] = await stage.storage.read.messages.byIds([queued]);
  const id = message?.contactId ?? '';
  const many = { tenantId, accountId: accountIds[0] ?? '', contactIds: [id], at: 1_000_000 };
  return { tenantId, id, queued, many };
}

for (const engine of databases) {
  t.test(
    `messages of a contact made private go in short transactions, ${engine.name}`,
    async (t) => {
      const database = await engine.create(t);
      const stage = await openStage(t, database.url);
      const { storage } = stage;
      const { read } = storage.connections;
      const other = await openStage(t, database.url);
      const { tenantId, id, queued, many } = await makeContact(stage);
      const left = () => read('messages').where({ contact_id: id });
      await storeMany(storage, { ...many, count: 1_000 });
      const changer = new ContactChanger(other.storage, messages, running);
      const change = (hidden: boolean) =>
        changer.change({ tenantId, id, changes: { private: hidden } });

      await t.test('the first transaction deletes some', async (t) => {
        const lane = makeContactChangeLane(messages);
        const set = (hidden: boolean) =>
          storage.submit(lane, { tenantId, id, changes: { private: hidden } });
        t.match(await set(true), { private: true });
        t.equal((await left()).length, 901);
        t.match(await left().where({ id: queued }), [{ status: 'failed', text: '' }]);
        t.equal(await set(false), 'forgetting', 'what is left is not shown again');
        t.match(await storage.read.contacts.find(tenantId, id), { private: true });
      });

      await t.test('after a crash the sweep goes on with it', async (t) => {
        t.equal((await read('erasures')).length, 1);
        await storage.connections.write('erasures').update({ created_at: 1 });
        const sweep = new ErasureSweep({ storage, sweepMedia: async () => undefined, log });
        sweep.add('fgt', ({ tenantId, contactId }) =>
          changer.forgetSome({ tenantId, id: contactId ?? '' }),
        );
        t.teardown(() => sweep.stop());
        sweep.start();
        await until('its end', async () =>
          (await read('erasures')).length === 0 ? true : undefined,
        );
        t.match(await left(), [{ id: queued }]);
        t.same(await read('events').where({ tenant_id: tenantId }), []);
      });

      await t.test('what comes after the flag was taken back stays', async (t) => {
        t.match(await change(false), { private: false });
        const later = acceptedId(await stage.send({ tenantId, contactId: id, phone: null }));
        t.equal(await changer.forgetSome({ tenantId, id }), false);
        t.same((await left().pluck('id')).sort(), [queued, later].sort());
        t.equal(
          (await read('threads').where({ contact_id: id })).length,
          1,
          'nor is it a stranger',
        );
      });

      await t.test('its answer comes when none is left, and holds nobody up', async (t) => {
        const at = 2_000_000;
        await storeMany(storage, { ...many, at, count: scale < 1 ? 1_000 : scaled(100_000) });
        const neighbour = await makeTenant(stage);
        await notHeldUp(
          t,
          'sends beside the forgetting of one contact',
          async () => acceptedId(await stage.send({ tenantId: neighbour.tenantId })),
          async () => t.match(await change(true), { private: true }),
        );
        t.equal((await left().whereNot('status', 'failed')).length, 0);
        t.same(await read('events').where({ tenant_id: tenantId }), []);
      });
    },
  );

  t.test(
    `nothing tells of a contact whose messages are being deleted, ${engine.name}`,
    async (t) => {
      const database = await engine.create(t);
      const stage = await openStage(t, database.url);
      const { storage } = stage;
      const { read, write } = storage.connections;
      const { tenantId, id, many } = await makeContact(stage);
      await storeMany(storage, { ...many, count: 1_000 });
      const session = new FakeSession(tenantId, many.accountId, stage.broker.processId);
      const underWay = async () => {
        const sent = acceptedId(await stage.send({ tenantId }));
        await stage.dispatch(session, sent);
        return sent;
      };
      const [answered, lost] = [await underWay(), await underWay()];
      const [shown] = await read('messages').where({ status: 'read' }).orderBy('id', 'desc');
      await write('messages').where({ id: shown.id }).update({ status: 'sent', read_at: null });

      const internet = new Internet();
      const engineProcess = await openEngine(t, database.url, internet, {
        settings: { retryDelaysMs: [3_000] },
      });
      const webhook = await addWebhook(engineProcess, tenantId, { retriesEnabled: true });
      internet.on(webhook.url, () => 500);
      const waiting = () => read('deliveries').where({ state: 'waiting', attempts: 1 });
      await raise(engineProcess, tenantId, [{ subject: shown.id }]);
      await until('a retry that waits', async () =>
        (await waiting()).length === 1 ? true : undefined,
      );

      const flag = { tenantId, id, changes: { private: true } };
      t.match(await storage.submit(makeContactChangeLane(messages), flag), { private: true });
      const left = await read('messages').where({ contact_id: id }).pluck('id');
      t.equal(left.length, 903);
      t.ok([answered, lost, shown.id].every((one) => left.includes(one)));
      const before = (await read('events').pluck('id')).sort();
      const at = Date.now();
      const receipt = { type: 'receipt', status: 'read', error: null, at } as const;
      await stage.lanes.receipts(session, [{ ...receipt, reference: shown.id, networkId: null }]);
      await stage.settle(session, { kind: 'sent', id: answered, networkId: 'net-1', at });
      await stage.run((unit) => stage.part.abandon(unit, many.accountId, 'logged_out'));
      const states = await read('messages')
        .whereIn('id', [shown.id, answered, lost])
        .pluck('status');
      t.same(states.sort(), ['failed', 'read', 'sent']);
      t.same((await read('events').pluck('id')).sort(), before, 'no event');
      await until('the retry to end', async () =>
        (await read('deliveries')).length === 0 ? true : undefined,
      );
      t.equal(internet.seen.length, 1, 'nor a further attempt');
    },
  );

  t.test(`a contact with many messages that wait is made private, ${engine.name}`, async (t) => {
    const database = await engine.create(t);
    const stage = await openStage(t, database.url);
    const { storage } = stage;
    const { tenantId, id, many } = await makeContact(stage);
    // More than SQLite binds.
    const count = engine.name === 'sqlite' ? 33_000 : 3_000;
    await storeMany(storage, { ...many, count, queued: true });
    const { read } = storage.connections;
    const failed = () => read('messages').where({ contact_id: id, status: 'failed' });
    const lane = makeContactChangeLane(messages);
    const set = (hidden: boolean) =>
      storage.submit(lane, { tenantId, id, changes: { private: hidden } });
    t.match(await set(true), { private: true });
    t.equal((await failed()).length, 100, 'some in the transaction of the flag');
    const [next] = await read('messages').where({ contact_id: id, status: 'queued' }).limit(1);
    const session = new FakeSession(tenantId, many.accountId, stage.broker.processId);
    t.equal(await stage.dispatch(session, next.id), null, 'the others are not sent');
    t.equal(await set(false), 'forgetting', 'nor if the flag is taken back');
    t.equal((await failed()).length, 200);
    const other = await openStage(t, database.url);
    const changer = new ContactChanger(other.storage, messages, running);
    t.match(await changer.change({ tenantId, id, changes: { private: true } }), { private: true });
    const states = await read('messages').distinct('status', 'text').where({ contact_id: id });
    t.same(states, [{ status: 'failed', text: '' }]);
    t.equal((await failed().whereNot('error', 'like', 'contact_private: %')).length, 0);
    t.equal((await read('messages').where({ contact_id: id })).length, count + 1);
    t.same(await read('events').where({ tenant_id: tenantId }), [], 'no event');
  });
}
