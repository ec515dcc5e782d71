import t from 'tap';
import { idBound } from '../../../core/ids.ts';
import { startRetention } from '../../../plugins/messages/retention.ts';
import { log } from '../../fixtures/process.ts';
import { databases } from '../../harness/databases.ts';
import { storeMany } from '../../harness/many-messages.ts';
import { makeTenant, openStage, until } from './stage.ts';

const dayMs = 86_400_000;

for (const engine of databases) {
  t.test(`a message is kept for its time, whatever a clock says, ${engine.name}`, async (t) => {
    const database = await engine.create(t);
    const stage = await openStage(t, database.url);
    const { storage } = stage;
    const { tenantId, accountIds } = await makeTenant(stage);
    const now = await storage.now();
    const times = {
      old: { id: now - 2 * dayMs, createdAt: now - 2 * dayMs },
      // Taken by a process whose clock is behind.
      behind: { id: now - 3 * dayMs, createdAt: now },
      imported: { id: now, createdAt: now - 3 * dayMs },
    };
    const accountId = accountIds[0] ?? '';
    const { write, read } = storage.connections;
    for (const [contactId, { id, createdAt: at }] of Object.entries(times)) {
      await storeMany(storage, { tenantId, accountId, contactIds: [contactId], count: 1, at });
      const ofTime = `${idBound('msg', id)}${'0'.repeat(16)}`;
      await write('messages').where('contact_id', contactId).update({ id: ofTime });
    }
    const left = (): Promise<string[]> => read('messages').orderBy('id').pluck('contact_id');
    let rounds = 0;
    const sweepMedia = () => {
      rounds += 1;
    };
    const retention = startRetention({ storage, keptMs: dayMs, log, sweepMedia });
    await until('a round', async () => rounds > 0);
    await retention.stop();
    t.same(await left(), ['behind', 'imported']);
  });
}
