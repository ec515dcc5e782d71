import t from 'tap';
import {
  foundConversations,
  type SearchPosition,
} from '../../../../plugins/messages/read/conversations.ts';
import { storeMerges } from '../../../../plugins/messages/receive/merge.ts';
import { databases } from '../../../harness/databases.ts';
import { makeTenant, openStage } from '../stage.ts';

const phones = ['+12025550177', '+12025550178', '+12025550179'] as const;

for (const engine of databases) {
  t.test(`a search whose last contact becomes an older one, ${engine.name}`, async (t) => {
    const stage = await openStage(t, (await engine.create(t)).url);
    const { read } = stage.storage;
    const { tenantId } = await makeTenant(stage);
    for (const phone of phones) await stage.send({ tenantId, phone });
    const everybody = { channel: null, phone: null, before: null, limit: 9 };
    const contacts = await read.contacts.list(tenantId, everybody);
    const [last = '', between = '', oldest = ''] = contacts.map(({ id }) => id);
    const page = async (before: SearchPosition | null) => {
      const filter = { accounts: null, before, limit: 1 };
      const { newest, next } = await foundConversations(read, tenantId, ['1202'], filter);
      return { ids: newest.map(({ contactId }) => contactId), next };
    };
    const first = await page(null);
    t.same(first.ids, [last]);
    await stage.run((unit) => storeMerges(unit, new Map([[last, oldest]])));
    const shown: string[] = [];
    let before = first.next;
    while (before !== null) {
      const { ids, next } = await page(before);
      shown.push(...ids);
      before = next;
    }
    t.same(shown, [between, oldest], 'each is shown once, in its place');
  });
}
