import { Writable } from 'node:stream';
import t from 'tap';
import { GatewayError } from '../../../core/errors.ts';
import { createLog } from '../../../core/log.ts';
import { makeRecording } from '../../../plugins/audit/recording.ts';
import { migratedStorage } from '../../fixtures/process.ts';
import { databases } from '../../harness/databases.ts';

const entry = {
  ...{ tenantId: 'ten_1', actor: 'key_1', operation: 'create_key' },
  ...{ target: null, requestId: 'req_1' },
};
const changed = { tenantId: 'ten_1', target: 'key_2' };

for (const engine of databases) {
  t.test(`the entry of a change, ${engine.name}`, async (t) => {
    const storage = await migratedStorage(t, (await engine.create(t)).url);
    const lines: string[] = [];
    const stream = new Writable({
      write(line, _, done) {
        lines.push(String(line));
        done();
      },
    });
    const recording = makeRecording({ storage, log: createLog('info', stream) });
    const { write } = storage.connections;
    const takeAway = async () => await write.schema.renameTable('audit', 'audit_away');
    const bringBack = async () => await write.schema.renameTable('audit_away', 'audit');
    const entries = async () => {
      const latest = await storage.read.audit.latest('ten_1', 10);
      return latest.map(({ target, outcome }) => [target, outcome]);
    };
    const create = async (during: () => Promise<unknown> = async () => undefined) => {
      await during();
      return 'the secret of the new key';
    };
    const record = (change: () => Promise<string>) => recording(entry, change, () => changed);

    t.equal(await record(create), 'the secret of the new key');
    t.same(await entries(), [['key_2', 'done']]);

    const late = await record(() => create(takeAway));
    t.equal(late, 'the secret of the new key', 'what was made is answered');
    await bringBack();
    t.same((await entries())[0], [null, 'unknown'], 'and is in the audit');
    t.match(lines.join(), /key_2.*a change was made, and its entry/, 'the log has the rest');

    await takeAway();
    let calls = 0;
    const counted = async () => String(++calls);
    await t.rejects(record(counted));
    t.equal(calls, 0, 'without an entry nothing is changed');
    await bringBack();

    const before = await entries();
    const refused = new GatewayError('contact_not_found');
    await t.rejects(
      record(() => Promise.reject(refused)),
      refused,
    );
    const early = new GatewayError('unavailable', { unchanged: true });
    await t.rejects(
      record(() => Promise.reject(early)),
      early,
    );
    await recording(entry, create, () => null);
    t.same(await entries(), before, 'what was refused leaves none');
    const broken = new GatewayError('unavailable');
    await t.rejects(
      record(() => Promise.reject(broken)),
      broken,
    );
    t.equal((await entries()).length, before.length + 1, 'what may have been made leaves one');
  });
}
