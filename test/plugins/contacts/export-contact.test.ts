import t from 'tap';
import type { AnyOperation } from '../../../core/operation.ts';
import { exportContact } from '../../../plugins/contacts/export-contact.ts';
import { contactView } from '../../../plugins/contacts/view.ts';
import { pagesOfContact } from '../../../plugins/messages/read/pages-of-contact.ts';
import { messageView } from '../../../plugins/messages/read/view.ts';
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
    const operation: AnyOperation = exportContact({
      read,
      mint,
      view: contactView,
      async *messages(...of) {
        for await (const page of pagesOfContact(read, ...of)) {
          yield page.map((message) => messageView(message, mint));
        }
      },
    });
    const linesOf = async (signal: AbortSignal): Promise<Line[]> => {
      const request = { caller: { tenantId }, params: { id: contactId }, signal };
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
  });
}
