import t from 'tap';
import { newId } from '../../../core/ids.ts';
import { createLog } from '../../../core/log.ts';
import { startUpkeep } from '../../../plugins/messages/upkeep.ts';
import { databases } from '../../harness/databases.ts';
import { makeTenant, openStage, until } from './stage.ts';

const hourMs = 3_600_000;

for (const engine of databases) {
  t.test(`what is old is deleted, ${engine.name}`, async (t) => {
    const database = await engine.create();
    t.teardown(() => database.drop());
    const stage = await openStage(t, database.url);
    const { tenantId } = await makeTenant(stage);
    const { storage, lanes } = stage;
    const now = await storage.now();
    const young = newId('msg');
    await stage.run(async (unit) => {
      const event = { tenantId, type: 'message.sent', payload: {} } as const;
      const old = Array.from({ length: 2_500 }, () => newId('msg'));
      await unit.events.record([
        ...old.map((subject) => ({ ...event, subject, at: now - hourMs })),
        // However long the test takes, it is young.
        { ...event, subject: young, at: now + hourMs },
      ]);
      await unit.idempotency.keep(
        [hourMs, -hourMs].map((ms) => ({
          tenantId,
          keyHash: ms > 0 ? 'old' : 'young',
          bodyHash: '',
          answer: null,
          createdAt: now - ms,
        })),
      );
    });
    const pluck = (table: string, column: string): Promise<string[]> =>
      storage.connections.read(table).pluck(column);
    t.equal((await pluck('events', 'subject')).length, 2_501);
    t.equal(await lanes.forgetEvents({ before: now, limit: 400 }), 400, 'a part at a time');
    const log = createLog('silent');
    const kept = { idempotencyMs: 5_000, eventsMs: 5_000, expireMs: 24 * hourMs };
    const upkeep = startUpkeep({ storage, lanes, log, ...kept });
    await until('the old to be gone', async () => {
      const [events, keys] = [
        await pluck('events', 'subject'),
        await pluck('idempotency_keys', 'key_hash'),
      ];
      return events.length <= 1 && keys.length <= 1;
    });
    t.same(await pluck('events', 'subject'), [young]);
    t.same(await pluck('idempotency_keys', 'key_hash'), ['young']);
    await upkeep.stop();
  });
}
