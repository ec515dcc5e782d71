import t from 'tap';
import { newId } from '../../../core/ids.ts';
import { makeRecording } from '../../../plugins/audit/recording.ts';
import { makeEraseLane, submitErasure } from '../../../plugins/contacts/erase.ts';
import { log } from '../../fixtures/process.ts';
import { engines } from '../../harness/databases.ts';
import { makeTenant, openStage } from '../messages/stage.ts';
import { FaultyServer } from '../storage/faulty-server.ts';

t.test('a contact whose erasure is committed, but not answered, was erased', async (t) => {
  const database = await engines.mariadb.create(t);
  const line = await FaultyServer.open(database.url, t);
  const stage = await openStage(t, line.url);
  const { storage } = stage;
  const { tenantId } = await makeTenant(stage);
  const erase = makeEraseLane({ beginErasing: async () => undefined });
  const record = makeRecording({ storage, log });
  const alias = newId('con');
  for (const [fault, named] of [
    ['lost_after', null],
    ['lost_before', null],
    ['lost_after', alias],
    ['lost_before', alias],
  ] as const) {
    await stage.send({ tenantId, phone: '+12025550177' });
    const [contact] = await storage.read.contacts.list(tenantId, {
      ...{ channel: null, phone: null, before: null, limit: 1 },
    });
    const id = contact?.id ?? '';
    const given = named ?? id;
    if (named !== null) {
      await stage.run(async (unit) => unit.contactAliases.enter(new Map([[alias, id]])));
    }
    const requestId = `${fault}-${given}`;
    const begun = await record(
      { tenantId, target: given, actor: 'key_1', operation: 'erase_contact', requestId },
      () => {
        line.nextCommit = fault;
        return submitErasure(storage, erase, { tenantId, id: given });
      },
      (erasure) => (erasure === null ? null : { tenantId, target: id }),
    );
    const rows = await storage.read.erasures.begunBefore(Number.MAX_SAFE_INTEGER, '', 10);
    const row = rows.find((erasure) => erasure.id === id);
    t.match(begun, { id, tenantId, address: { phone: '+12025550177' } }, fault);
    t.same(begun, row, 'as those who go on with it know it');
    t.ok(Math.abs((row?.address?.erasedAt ?? 0) - (await storage.now())) < 60_000);
    const entries = storage.connections.read('audit').where({ request_id: requestId });
    t.match(await entries, [{ target: id, outcome: 'done' }], 'as the audit says');
    t.equal(await storage.read.contacts.find(tenantId, id), null);
  }
});
