import t from 'tap';
import { ContactMessageTable } from '../../../../plugins/messages/tables/contact-messages.ts';
import { Executor } from '../../../../plugins/storage/executor.ts';
import { databases } from '../../../harness/databases.ts';
import { storeMany } from '../../../harness/many-messages.ts';
import { makeTenant, openStage } from '../stage.ts';

/** Takes note of how many rows a statement has changed at most. */
class CountingExecutor extends Executor {
  most = 0;

  override async run(...statement: Parameters<Executor['run']>): Promise<number> {
    const changed = await super.run(...statement);
    this.most = Math.max(this.most, changed);
    return changed;
  }
}

for (const engine of databases) {
  t.test(`many messages move to another contact in short statements, ${engine.name}`, async (t) => {
    const database = await engine.create(t);
    const stage = await openStage(t, database.url);
    const { connections, dialect } = stage.storage;
    const { tenantId, accountIds } = await makeTenant(stage);
    const contactIds = ['con_1', 'con_2', 'con_3'];
    const many = { tenantId, accountId: accountIds[0] ?? '', contactIds, at: 1_000_000 };
    await storeMany(stage.storage, { ...many, count: 3_600 });
    const most = await connections.write.transaction(async (transaction) => {
      const db = new CountingExecutor(transaction, dialect);
      const merges = new Map([
        ['con_1', 'con_3'],
        ['con_2', 'con_4'],
      ]);
      await new ContactMessageTable(db).moveContacts(merges);
      return db.most;
    });
    t.equal(most, 1_000, 'each changes so many at most');
    const left = connections.read('messages').select('contact_id').count({ n: '*' });
    const counts = await left.groupBy('contact_id').orderBy('contact_id');
    t.match(counts, [
      { contact_id: 'con_3', n: 2_400 },
      { contact_id: 'con_4', n: 1_200 },
    ]);
  });
}
