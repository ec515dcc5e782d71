import t from 'tap';
import type { Unit } from '../../../core/contracts/storage.ts';
import type { AnyOperation } from '../../../core/operation.ts';
import { exportContact } from '../../../plugins/contacts/export-contact.ts';
import { contactView } from '../../../plugins/contacts/view.ts';
import { pagesOfContact } from '../../../plugins/messages/read/pages-of-contact.ts';
import { messageView } from '../../../plugins/messages/read/view.ts';
import { storeMerges } from '../../../plugins/messages/receive/merge.ts';
import { databases } from '../../harness/databases.ts';
import { acceptedId, makeTenant, openStage } from '../messages/stage.ts';

interface Line {
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

const key = '0123456789abcdef0123456789abcdef';
const mint = (stored: string) => `https://gateway.example/media/${stored}`;

for (const engine of databases) {
  t.test(`the export of a contact, ${engine.name}`, async (t) => {
    const database = await engine.create(t);
    const stage = await openStage(t, database.url);
    const { read } = stage.storage;
    const { tenantId } = await makeTenant(stage);
    const id = acceptedId(await stage.send({ tenantId, phone: '+12025550177' }));
    const contactId = (await read.messages.byIds([id]))[0]?.contactId ?? '';
    const payload = { message: { id, media: { kind: 'image', url: `media:${key}` } } };
    await stage.run((unit) =>
      unit.events.record([
        { tenantId, type: 'message.received', subject: id, payload, at: unit.now },
      ]),
    );
    let isCurrent = true;
    const asked: string[] = [];
    const authenticator = {
      isCurrent: async (keyId: string) => {
        asked.push(keyId);
        return isCurrent;
      },
    };
    const operation: AnyOperation = exportContact({
      read,
      mint,
      authenticator,
      view: contactView,
      async *messages(...of) {
        for await (const page of pagesOfContact(read, ...of)) {
          yield page.map((message) => messageView(message, mint));
        }
      },
    });
    const linesOf = async (signal: AbortSignal): Promise<Line[]> => {
      const request = { caller: { tenantId, keyId: 'key_1' }, params: { id: contactId }, signal };
      const { lines } = await operation.handler(request as never);
      const found: Line[] = [];
      for await (const line of lines ?? []) found.push(line as Line);
      return found;
    };

    const lines = await linesOf(new AbortController().signal);
    t.match(
      lines.map(({ type }) => type),
      ['thread', 'message', 'event'],
    );
    const event = lines.find(({ type }) => type === 'event')?.data;
    const media = { kind: 'image', url: mint(key) };
    t.match(event, { payload: { message: { id, media } } }, 'the file can be fetched');

    const stopping = new Error('the gateway is stopping');
    await t.rejects(
      linesOf(AbortSignal.abort(stopping)),
      stopping,
      'lines that are cut short are no whole answer',
    );
    isCurrent = false;
    const revoked = linesOf(new AbortController().signal);
    await t.rejects(revoked, { code: 'unauthorized' }, 'a revoked key gets no more pages');
    t.same(asked, ['key_1', 'key_1'], 'asked for before each page');
  });

  t.test(`the export of a contact that changes meanwhile, ${engine.name}`, async (t) => {
    const database = await engine.create(t);
    const stage = await openStage(t, database.url);
    const { read } = stage.storage;
    const { tenantId } = await makeTenant(stage);
    const contactOf = async (phone: string): Promise<string> => {
      const id = acceptedId(await stage.send({ tenantId, phone }));
      return (await read.messages.byIds([id]))[0]?.contactId ?? '';
    };
    const contactId = await contactOf('+12025550177');
    const linesDuring = async (change: (unit: Unit) => Promise<unknown>): Promise<number> => {
      const operation = exportContact({
        read,
        mint,
        authenticator: { isCurrent: async () => true },
        view: contactView,
        async *messages(...of) {
          for await (const page of pagesOfContact(read, ...of)) {
            yield page.map((message) => messageView(message, mint));
            await stage.run(change);
          }
        },
      });
      const { signal } = new AbortController();
      const request = { caller: { tenantId }, params: { id: contactId }, signal };
      const { lines } = await operation.handler(request as never);
      let count = 0;
      for await (const _ of lines ?? []) count += 1;
      return count;
    };

    t.equal(await linesDuring(async () => undefined), 2, 'it is whole when nothing happens');
    const broken = { message: /became one with another or was erased during its export/ };
    const other = await contactOf('+12025550178');
    const joining = (unit: Unit) => storeMerges(unit, new Map([[other, contactId]]));
    await t.rejects(linesDuring(joining), broken, 'another became it');
    const kept = await contactOf('+12025550179');
    const leaving = (unit: Unit) => storeMerges(unit, new Map([[contactId, kept]]));
    await t.rejects(linesDuring(leaving), broken, 'it became another');
    // By its alias from now on.
    const erasing = (unit: Unit) => unit.contacts.erase(kept);
    await t.rejects(linesDuring(erasing), broken, 'it was erased');
  });
}
