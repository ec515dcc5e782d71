import t from 'tap';
import type { ListPosition } from '../../../../core/list-position.ts';
import { makeEraseLane } from '../../../../plugins/contacts/erase.ts';
import { failUndispatched } from '../../../../plugins/messages/forget-contact.ts';
import {
  conversationPage,
  foundConversations,
  type SearchPosition,
} from '../../../../plugins/messages/read/conversations.ts';
import { storeMerges } from '../../../../plugins/messages/receive/merge.ts';
import type { Direction } from '../../../../plugins/messages/tables/message-rows.ts';
import { threadKey } from '../../../../plugins/messages/tables/threads.ts';
import { databases } from '../../../harness/databases.ts';
import { acceptedId, makeTenant, openStage } from '../stage.ts';
import { queued } from '../stored-message.ts';

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

  t.test(`an erased contact has no conversation, ${engine.name}`, async (t) => {
    const stage = await openStage(t, (await engine.create(t)).url);
    const { read } = stage.storage;
    const { tenantId } = await makeTenant(stage);
    const ids: string[] = [];
    // The last is the newest.
    for (let n = 0; n < 7; n += 1) {
      const id = acceptedId(await stage.send({ tenantId, phone: `+1202555010${n}` }));
      ids.unshift(id);
    }
    const contactOf = async (id: string) =>
      (await read.messages.find(tenantId, id))?.contactId ?? '';
    const contacts = await Promise.all(ids.map(contactOf));
    const lane = makeEraseLane({
      async beginErasing(unit, ...contact) {
        await failUndispatched(unit, ...contact, 'contact_erased', {
          report: async () => undefined,
        });
      },
    });
    const erase = (place: number) => {
      return stage.storage.submit(lane, { tenantId, id: contacts[place] ?? '' });
    };
    const pages = async (limit: number) => {
      const found: string[][] = [];
      let before: ListPosition | null = null;
      do {
        const filter = { accounts: null, before, limit };
        const page = await conversationPage(read, tenantId, filter);
        found.push(page.newest.map(({ contactId }) => contactId));
        before = page.next;
      } while (before !== null);
      return found;
    };
    for (const place of [0, 2, 3, 6]) await erase(place);
    const left = [1, 4, 5].map((place) => contacts[place] ?? '');
    t.same(await pages(100), [left]);
    t.same(await pages(2), [left.slice(0, 2), left.slice(2)], 'a page is filled');
    t.same((await pages(1)).flat(), left, 'by its cursor each is shown once');
    const all = { direction: null, accountId: null, before: null, limit: 100 };
    const messages = await read.messages.list(tenantId, all);
    t.same(
      messages.map(({ id }) => id),
      ids,
      'the messages are listed on',
    );
    for (const place of [1, 4, 5]) await erase(place);
    t.same(await pages(2), [[]], 'none is left');
  });

  t.test(
    `messages of one instant are answered by the one above them, ${engine.name}`,
    async (t) => {
      const stage = await openStage(t, (await engine.create(t)).url);
      const { read } = stage.storage;
      const { tenantId, accountIds } = await makeTenant(stage);
      const [accountId = ''] = accountIds;
      const facts = { ...queued, tenantId, accountId, sequence: null, networkId: null } as const;
      const store = (
        contactId: string,
        ...all: readonly (readonly [Direction, number, string])[]
      ) =>
        stage.run((unit) =>
          unit.messages.insert(
            all.map(([direction, createdAt, id]) => ({
              ...{ ...facts, contactId, direction, createdAt, id: `msg_${contactId}_${id}` },
              status: direction === 'inbound' ? ('received' as const) : ('sent' as const),
            })),
          ),
        );
      await store('con_asks', ['outbound', 5, 'a'], ['inbound', 5, 'b'], ['inbound', 5, 'c']);
      await store('con_told', ['inbound', 5, 'a'], ['inbound', 5, 'b'], ['outbound', 5, 'c']);
      await store('con_both', ['inbound', 5, 'a'], ['outbound', 5, 'b'], ['inbound', 5, 'c']);
      await store('con_late', ['outbound', 4, 'z'], ['inbound', 5, 'a'], ['outbound', 4, 'y']);
      await store('con_early', ['inbound', 4, 'z'], ['outbound', 5, 'a'], ['outbound', 4, 'b']);
      await store('con_mute', ['inbound', 4, 'a'], ['inbound', 5, 'b']);
      await store('con_deaf', ['outbound', 4, 'a'], ['outbound', 5, 'b']);
      const contacts = ['asks', 'told', 'both', 'late', 'early', 'mute', 'deaf'];
      const pairs = contacts.map((name) => ({ accountId, contactId: `con_${name}` }));
      const counts = await read.conversations.unanswered(pairs);
      const shown = await read.conversations.newest(pairs);
      t.same(
        pairs.map((pair) => {
          const key = threadKey(pair.accountId, pair.contactId);
          return [pair.contactId, shown.get(key)?.direction, counts.get(key)];
        }),
        [
          ['con_asks', 'inbound', 2],
          ['con_told', 'outbound', 0],
          ['con_both', 'inbound', 1],
          ['con_late', 'inbound', 1],
          ['con_early', 'outbound', 0],
          ['con_mute', 'inbound', 2],
          ['con_deaf', 'outbound', 0],
        ],
      );
    },
  );
}
