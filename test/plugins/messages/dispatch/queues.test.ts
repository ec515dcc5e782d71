import t from 'tap';
import { databases } from '../../../harness/databases.ts';
import { acceptedId, makeTenant, openStage } from '../stage.ts';

for (const engine of databases) {
  t.test(`a queue that drains at its pace is not stalled, ${engine.name}`, async (t) => {
    const { storage, send, ...stage } = await openStage(t, (await engine.create(t)).url);
    const { write } = storage.connections;
    const { tenantId, accountIds } = await makeTenant({ storage, send, ...stage });
    const { queuedMessages } = storage.read;
    t.same(await queuedMessages.queues(), []);
    const ids: string[] = [];
    while (ids.length < 5) ids.push(acceptedId(await send({ tenantId })));
    const [failed = '', sent = '', head = '', tail = ''] = ids;
    const set = (id: string, values: object) => write('messages').where({ id }).update(values);
    await write('messages').update({ created_at: 1_000 });
    const since = async () => {
      const [queue, ...others] = await queuedMessages.queues();
      t.same(others, []);
      t.match(queue, { channel: 'msgapp_web', mode: 'test', status: 'connected', oldest: 1_000 });
      return Number(queue?.stalledSince);
    };

    t.equal(await since(), 1_000, 'nothing has left it');
    await set(sent, { status: 'sent', dispatched_at: 5_000, attempts: 1 });
    await set(failed, { status: 'failed' });
    t.equal(await since(), 5_000, 'the one before has left');
    await set(head, { dispatched_at: 6_000, attempts: 1 });
    t.equal(await since(), 6_000, 'the first is under way');
    await set(head, { dispatched_at: 9_000, attempts: 2 });
    t.equal(await since(), 1_000, 'the first is tried again');
    await set(head, { dispatched_at: null, attempts: 0 });
    await set(tail, { status: 'read', dispatched_at: 7_000, attempts: 1 });
    t.equal(await since(), 7_000, 'one of another conversation has left');

    await write('accounts').whereIn('id', accountIds).update({ removed_at: 1 });
    t.same(await queuedMessages.queues(), [], 'of a removed account');
  });
}
