import t from 'tap';
import { createLog } from '../../../core/log.ts';
import { startMessageUpkeep } from '../../../plugins/messages/upkeep.ts';
import { databases } from '../../harness/databases.ts';
import { makeTenant, openStage, until } from './stage.ts';

const hourMs = 3_600_000;

for (const engine of databases) {
  t.test(`old Idempotency-Keys are deleted, ${engine.name}`, async (t) => {
    const database = await engine.create(t);
    const stage = await openStage(t, database.url);
    const { tenantId } = await makeTenant(stage);
    const { storage } = stage;
    const { expire } = stage.lanes;
    const now = await storage.now();
    await stage.run((unit) =>
      unit.idempotency.keep(
        [hourMs, -hourMs].map((ms) => ({
          tenantId,
          keyHash: ms > 0 ? 'old' : 'young',
          bodyHash: '',
          answer: null,
          createdAt: now - ms,
        })),
      ),
    );
    const keys = (): Promise<string[]> =>
      storage.connections.read('idempotency_keys').pluck('key_hash');
    t.same((await keys()).sort(), ['old', 'young']);
    const kept = {
      idempotencyMs: 5_000,
      expireMs: 24 * hourMs,
      keptMs: 0,
      sweepMedia: () => undefined,
    };
    const upkeep = startMessageUpkeep({ storage, expire, log: createLog('silent'), ...kept });
    await until('the old to be gone', async () => (await keys()).length <= 1);
    t.same(await keys(), ['young']);
    await upkeep.stop();
  });
}
