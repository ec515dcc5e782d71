import t from 'tap';
import { idBound, newId } from '../../core/ids.ts';
import { startRetention } from '../../plugins/messages/retention.ts';
import { log } from '../fixtures/process.ts';
import { notHeldUp } from '../harness/beside.ts';
import { databases } from '../harness/databases.ts';
import { storeMany } from '../harness/many-messages.ts';
import { scale, scaled } from '../harness/scale.ts';
import { acceptedId, makeTenant, openStage, until } from '../plugins/messages/stage.ts';

const dayMs = 86_400_000;

for (const engine of databases) {
  t.test(`old messages go, and hold no neighbour up, ${engine.name}`, async (t) => {
    const database = await engine.create(t);
    const stage = await openStage(t, database.url);
    const { storage } = stage;
    const [old, neighbour] = [await makeTenant(stage), await makeTenant(stage)];
    const now = await storage.now();
    const contactIds = Array.from({ length: 200 }, () => newId('con'));
    const facts = { tenantId: old.tenantId, accountId: old.accountIds[0] ?? '', contactIds };
    const count = scale < 1 ? 2_000 : scaled(1_000_000);
    await storeMany(storage, { ...facts, count, at: now - 2 * dayMs });
    const young = { ...facts, contactIds: contactIds.slice(0, 5), count: 10, at: now };
    await storeMany(storage, young);
    const customer = contactIds.at(-1) ?? '';
    const { write } = storage.connections;
    await write('threads')
      .where('contact_id', customer)
      .update({ inbound_at: now - 2 * dayMs });
    const queued = acceptedId(await stage.send({ tenantId: old.tenantId }));
    const id = `${idBound('msg', 1)}${'0'.repeat(16)}`;
    await storage.connections.write('messages').where('id', queued).update({ id });
    const { read } = storage.connections;
    const left = async () => {
      const [row] = await read('messages').where('tenant_id', old.tenantId).count({ left: '*' });
      return Number(row?.left);
    };
    let swept = 0;
    const isDone = async () =>
      swept >= 2 && (await storage.read.messages.storedBefore(now - dayMs, 1)).length === 0;
    const begun = performance.now();
    await notHeldUp(
      t,
      `sends beside the deletion of ${count} messages`,
      async () => acceptedId(await stage.send({ tenantId: neighbour.tenantId })),
      async () => {
        const sweepMedia = () => {
          swept += 1;
        };
        const parts = { storage, keptMs: dayMs, log, sweepMedia };
        // As two processes would.
        const rounds = [startRetention(parts), startRetention({ ...parts, keptMs: dayMs + 1 })];
        await until('the rounds', isDone, 3_600_000);
        await Promise.all(rounds.map((round) => round.stop()));
      },
    );
    t.comment(`${Math.round((performance.now() - begun) / 1000)} s`);
    t.equal(await left(), 11, 'what is young stays, and what is queued');
    const [events] = await read('events').where('payload', 'like', '%long ago%').count({ n: '*' });
    t.equal(events?.n, 1, 'events about old messages go with them');
    const threads = await read('threads').where('account_id', facts.accountId);
    t.equal(threads.length, 7, 'a thread goes with its last message');
    const wrote = threads.some((one) => one.contact_id === customer);
    t.ok(wrote, 'that of a contact who has written stays');
  });
}
