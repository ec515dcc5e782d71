import t from 'tap';
import { idBound, newId } from '../../../core/ids.ts';
import { createLog } from '../../../core/log.ts';
import { startPruning } from '../../../core/pruning.ts';
import { pruneEvents } from '../../../plugins/events/prune.ts';
import { databases } from '../../harness/databases.ts';
import { makeTenant, openStage, until } from '../messages/stage.ts';

const hourMs = 3_600_000;

for (const engine of databases) {
  t.test(`old events are deleted, fanned out or not, ${engine.name}`, async (t) => {
    const database = await engine.create(t);
    const stage = await openStage(t, database.url);
    const { tenantId } = await makeTenant(stage);
    const { storage } = stage;
    const now = await storage.now();
    const young = newId('msg');
    await stage.run(async (unit) => {
      const event = { tenantId, type: 'message.sent', payload: {} } as const;
      const old = Array.from({ length: 2_500 }, () => ({
        ...event,
        subject: newId('msg'),
        at: now,
      }));
      await unit.events.record(old.slice(0, 2_000));
      await unit.events.recordFannedOut(old.slice(2_000));
      await unit.events.record([{ ...event, subject: young, at: now }]);
    });
    // However long the test takes, it is young; a time to come would be that of all later ids of this process.
    const write = storage.connections.write('events');
    await write
      .where({ subject: young })
      .update({ id: `${idBound('evt', now + hourMs)}${'0'.repeat(16)}` });
    const subjects = (): Promise<string[]> => storage.connections.read('events').pluck('subject');
    t.equal((await subjects()).length, 2_501);
    const some = { before: now + hourMs / 2, limit: 400 };
    t.equal(await storage.submit(pruneEvents, some), 400, 'a part at a time');
    const pruning = startPruning(pruneEvents, { storage, keptMs: 500, log: createLog('silent') });
    await until('the old to be gone', async () => (await subjects()).length <= 1);
    t.same(await subjects(), [young]);
    await pruning.stop();
  });
}
