import t from 'tap';
import { chunks } from '../../../core/chunks.ts';
import { id, integer, type Table, words } from '../../../core/contracts/schema.ts';
import { contactTableSchema } from '../../../plugins/contacts/tables/schema.ts';
import { belongingsOf } from '../../../plugins/erasure/tables/belongings.ts';
import { tenantSteps } from '../../../plugins/erasure/tenant-steps.ts';
import { webhookTableSchema } from '../../../plugins/webhooks/tables/schema.ts';
import { databases } from '../../harness/databases.ts';
import { openStage } from '../messages/stage.ts';
import { makeKept } from '../storage/outside-tables.ts';

/** Tables as plugins from outside may have them: an index begins with the contact, and none with the tenant. */
const ofContacts: readonly Table[] = [
  {
    name: 'x_counting_notes',
    columns: { contact_id: id, tenant_id: id, note: words(40) },
    primary: ['contact_id'],
  },
  {
    name: 'x_counting_entries',
    columns: { contact_id: id, id, tenant_id: id },
    primary: ['contact_id', 'id'],
  },
  {
    name: 'x_counting_numbers',
    columns: { id: integer, contact_id: id, tenant_id: id },
    primary: ['id'],
    indexes: [['contact_id']],
  },
];

for (const engine of databases) {
  t.test(`deliveries that have outlived their subscription go, ${engine.name}`, async (t) => {
    const database = await engine.create(t);
    const { storage } = await openStage(t, database.url);
    const { read, write } = storage.connections;
    const rows = Array.from({ length: 4_500 }, (_, n) => ({
      id: `dlv_${String(n).padStart(5, '0')}`,
      tenant_id: n % 3 === 0 ? 'ten_gone' : 'ten_other',
      ...{ webhook_id: 'wh_gone', receiver_id: 'r', event_id: `evt_${n}`, event_type: 'x' },
      ...{ subject: 's', state: 'delivered', log: '[]', created_at: 1 },
    }));
    for (let start = 0; start < rows.length; start += 500) {
      await write('deliveries').insert(rows.slice(start, start + 500));
    }
    const [forget, ...steps] = tenantSteps(storage, belongingsOf(webhookTableSchema)).toReversed();
    t.ok(forget);
    const erasure = { id: 'ten_gone', tenantId: 'ten_gone', contactId: null, address: null };
    for (const step of steps.reverse()) while (await step(erasure));
    t.equal((await read('deliveries').where({ tenant_id: 'ten_gone' })).length, 0);
    t.equal((await read('deliveries').where({ tenant_id: 'ten_other' })).length, 3_000);
  });
}

for (const engine of databases) {
  t.test(`rows of a plugin go whatever their key is, ${engine.name}`, async (t) => {
    const database = await engine.create(t);
    const steps = [{ name: '001-first', creates: ofContacts }];
    const storage = await makeKept(t, database.url, { tables: {}, steps });
    const { read, write } = storage.connections;
    const contact = { channel: 'chatapp', name: 'Ada', created_at: 1 };
    await write('contacts').insert({ id: 'con_known', tenant_id: 'ten_gone', ...contact });
    for (const { name, columns } of ofContacts) {
      const rows = Array.from({ length: 450 }, (_, n) => ({
        contact_id: n === 0 ? 'con_known' : `con_${n}`,
        tenant_id: n % 3 === 0 ? 'ten_gone' : 'ten_other',
        ...('id' in columns && { id: columns.id?.type === 'integer' ? n + 1 : `ent_${n}` }),
        ...('note' in columns && { note: 'x' }),
      }));
      await write(name).insert(rows);
    }
    const erasure = { id: 'ten_gone', tenantId: 'ten_gone', contactId: null, address: null };
    const all = tenantSteps(storage, belongingsOf(ofContacts));
    for (const step of all.slice(0, -1)) while (await step(erasure));
    for (const { name } of ofContacts) {
      t.equal((await read(name).where({ tenant_id: 'ten_gone' })).length, 0, name);
      t.equal((await read(name).where({ tenant_id: 'ten_other' })).length, 300, name);
    }
  });
}

for (const engine of databases) {
  t.test(`the aliases of any number of contacts go, ${engine.name}`, async (t) => {
    const database = await engine.create(t);
    const { storage } = await openStage(t, database.url);
    const { read, write } = storage.connections;
    // Of each moment more contacts than are read at a time; each has one alias, one of them many.
    const contacts = Array.from({ length: 1_300 }, (_, n) => ({
      ...{ id: `con_${n}`, tenant_id: n % 650 === 0 ? 'ten_other' : 'ten_gone' },
      ...{ channel: 'chatapp', name: 'Ada', created_at: Math.floor(n / 650) },
    }));
    const aliases = contacts.map(({ id }) => ({ id: `${id}_was`, contact_id: id }));
    const many = Array.from({ length: 450 }, (_, n) => ({ id: `was_${n}`, contact_id: 'con_7' }));
    for (const some of chunks(contacts, 200)) await write('contacts').insert(some);
    for (const some of chunks([...aliases, ...many], 200)) {
      await write('contact_aliases').insert(some);
    }
    const erasure = { id: 'ten_gone', tenantId: 'ten_gone', contactId: null, address: null };
    const all = tenantSteps(storage, belongingsOf(contactTableSchema));
    for (const step of all.slice(0, -1)) while (await step(erasure));
    t.same(await read('contact_aliases').orderBy('id').pluck('id'), ['con_0_was', 'con_650_was']);
    t.same(await read('contacts').orderBy('id').pluck('id'), ['con_0', 'con_650']);
  });
}
