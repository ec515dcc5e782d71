import t, { type Test } from 'tap';
import { databases, type TestDatabase } from '../../../harness/databases.ts';
import { storeMany } from '../../../harness/many-messages.ts';
import { acceptedId, FakeSession, makeTenant, openStage, startSession, until } from '../stage.ts';

/** An empty queue: a tenant with one account. */
async function openQueue(t: Test, engine: TestDatabase) {
  const stage = await openStage(t, (await engine.create(t)).url);
  const { tenantId, accountIds } = await makeTenant(stage);
  return { stage, tenantId, accountId: accountIds[0] ?? '' };
}

for (const engine of databases) {
  t.test(
    `a long queue whose link is over fails in short transactions, ${engine.name}`,
    async (t) => {
      const { stage, tenantId, accountId } = await openQueue(t, engine);
      const { storage, lanes } = stage;
      const { read, write } = storage.connections;
      const first = acceptedId(await stage.send({ tenantId }));
      const [message] = await storage.read.messages.byIds([first]);
      const many = { tenantId, accountId, contactIds: [message?.contactId ?? ''], at: Date.now() };
      await storeMany(storage, { ...many, count: 999, queued: true });
      await write('accounts').where({ id: accountId }).update({ outbound_sequence: 5_000 });
      const failed = () => read('messages').where({ status: 'failed' });

      await stage.run((unit) => stage.part.abandon(unit, accountId, 'logged_out'));
      t.equal((await failed()).length, 100, 'the change itself fails so many');
      // Linked anew at once. Two contacts have become the one: only a message behind queued ones would wait for them.
      const later = acceptedId(await stage.send({ tenantId }));
      const contact_id = message?.contactId ?? '';
      await write('contact_aliases').insert({ id: 'con_before', contact_id });
      const session = new FakeSession(tenantId, accountId, stage.broker.processId);
      await startSession(t, stage, session);
      await until('the later one to be sent', async () => {
        const [row] = await read('messages').where({ id: later });
        return row?.status === 'sent' ? true : undefined;
      });
      t.same(
        session.handed.map(({ reference }) => reference),
        [later],
        'nothing else is',
      );
      const found = await storage.read.queuedMessages.accountsToExpire(0, 10);
      t.same(found, [accountId], 'the sweep finds the rest');
      session.end();
      await stage.part.closed(session);
      acceptedId(await stage.send({ tenantId }));
      for (const reason of ['removed', 'logged_out'] as const) {
        await stage.run((unit) => stage.part.abandon(unit, accountId, reason));
      }
      while (await lanes.expire(accountId));
      const rows = await failed();
      t.equal(rows.length, 1_001);
      const removed = rows.filter(({ error }) => !error.startsWith('logged_out: '));
      t.match(removed, [{ error: /^removed: / }], 'each for the end that it was there for');
      t.equal(removed[0]?.sequence, Math.max(...rows.map(({ sequence }) => sequence)));
      const events = await read('events').where({ type: 'message.failed' });
      t.equal(new Set(events.map(({ subject }) => subject)).size, 1_001, 'each is told of');
      t.equal(events.length, 1_001, 'once');
      t.same(await read('abandoned_queues'), []);
    },
  );
  t.test(
    `a contact that is being erased holds up no queue that is over, ${engine.name}`,
    async (t) => {
      const { stage, tenantId, accountId } = await openQueue(t, engine);
      const { storage, lanes } = stage;
      const { read, write } = storage.connections;
      const [handed, kept] = [
        acceptedId(await stage.send({ tenantId })),
        acceptedId(await stage.send({ tenantId, phone: '+12025550124' })),
      ];
      const messages = await storage.read.messages.byIds([handed, kept]);
      const contactOf = (id: string) => messages.find((one) => one.id === id)?.contactId ?? '';
      const many = { tenantId, accountId, contactIds: [contactOf(kept)], at: Date.now() };
      await storeMany(storage, { ...many, count: 198, queued: true });
      // What was handed over waits for its answer when its contact is erased.
      await write('messages').where({ id: handed }).update({ dispatched_at: Date.now() });
      await stage.run((unit) => unit.contacts.erase(contactOf(handed)));

      await stage.run((unit) => stage.part.abandon(unit, accountId, 'logged_out'));
      t.match(await read('abandoned_queues'), [{ account_id: accountId }], 'a page is not all');
      t.equal((await read('messages').where({ status: 'queued' })).length, 100);
      for (let n = 0; n < 3; n += 1) await lanes.expire(accountId);
      t.same(await read('messages').where({ status: 'queued' }), []);
      t.same(await read('abandoned_queues'), []);
      t.same(await storage.read.queuedMessages.accountsToExpire(0, 10), [], 'nothing is left');
      t.same(
        await read('events').where({ subject: handed }),
        [],
        'and nothing tells of the person',
      );
      t.equal((await read('events').where({ type: 'message.failed' })).length, 199);
    },
  );
}
