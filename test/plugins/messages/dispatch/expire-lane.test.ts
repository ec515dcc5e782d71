import t from 'tap';
import { createLog } from '../../../../core/log.ts';
import { startMessageUpkeep } from '../../../../plugins/messages/upkeep.ts';
import { databases } from '../../../harness/databases.ts';
import { storeMany } from '../../../harness/many-messages.ts';
import { until } from '../../../harness/story.ts';
import { acceptedId, makeTenant, openStage } from '../stage.ts';

const expireMs = 30_000;

for (const engine of databases) {
  t.test(`a long queue expires in short transactions, ${engine.name}`, async (t) => {
    const database = await engine.create(t);
    const stage = await openStage(t, database.url, { expireMs });
    const { storage, lanes } = stage;
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
    t.equal(await lanes.expire(accountId), true);
    t.equal(await failed(), 100, 'one transaction fails so many');
    const upkeep = startMessageUpkeep({
      ...{ storage, lanes, expireMs, idempotencyMs: expireMs, keptMs: 0 },
      sweepMedia: () => undefined,
      log: createLog('silent'),
    });
    await until('the others', async () => ((await failed()) === 1_000 ? true : undefined));
    await upkeep.stop();
    t.equal(await lanes.expire(accountId), false);
    t.match(await read('messages').where({ status: 'queued' }), [{ id: young }]);
    const events = await read('events').where({ type: 'message.failed' });
    t.equal(new Set(events.map(({ subject }) => subject)).size, 1_000, 'each is told of');
    t.equal(events.length, 1_000, 'once');
  });
}
