import t from 'tap';
import type { ListPosition } from '../../../../core/list-position.ts';
import { ofAccounts } from '../../../../plugins/messages/read/of-accounts.ts';
import type { MessageFilter } from '../../../../plugins/messages/tables/message-lists.ts';
import {
  type MessageWithContact,
  newMessage,
} from '../../../../plugins/messages/tables/message-rows.ts';

const any = { direction: null, accountId: null } as const;

function message(accountId: string, createdAt: number, id: string): MessageWithContact {
  return {
    ...{ id, accountId, createdAt, tenantId: 'ten_1', channel: 'irc', contactId: 'con_1' },
    ...{ direction: 'outbound', text: id, media: null, status: 'queued', ...newMessage },
    contact: { id: 'con_1', phone: null, name: 'Ada' },
  };
}

function isBehind({ createdAt, id }: ListPosition, before: ListPosition | null): boolean {
  if (before === null) return true;
  return createdAt < before.createdAt || (createdAt === before.createdAt && id < before.id);
}

/** The list of a tenant, as the table reads it, and how many rows were read. */
function listOf(messages: readonly MessageWithContact[]) {
  const newestFirst = messages.toSorted((one, other) => (isBehind(one, other) ? 1 : -1));
  const found = { rows: 0 };
  const read = async ({ accountId, before, limit }: MessageFilter) => {
    const ofAccount = newestFirst.filter(
      (one) => accountId === null || one.accountId === accountId,
    );
    const page = ofAccount.filter((one) => isBehind(one, before)).slice(0, limit);
    found.rows += page.length;
    return page;
  };
  return { newestFirst, read, found };
}

async function walk(read: ReturnType<typeof ofAccounts>, limit: number, pages: number) {
  const ids: string[] = [];
  let before: ListPosition | null = null;
  for (let n = 0; n < pages; n += 1) {
    const page: readonly MessageWithContact[] = await read({ ...any, before, limit });
    ids.push(...page.map(({ id }) => id));
    before = page.at(-1) ?? before;
  }
  return ids;
}

t.test('the lists of accounts are one list', async (t) => {
  const accounts = ['acc_0', 'acc_1', 'acc_2'];
  // Moments come several times, and every fourth message is of an account that is not asked for.
  const all = Array.from({ length: 400 }, (_, n) =>
    message(`acc_${n % 4}`, Math.floor(n / 7), `msg_${String((n * 37) % 400).padStart(3, '0')}`),
  );
  const { newestFirst, read } = listOf(all);
  const wanted = newestFirst.filter(({ accountId }) => accounts.includes(accountId));
  for (const limit of [1, 9, 100, 500]) {
    const pages = Math.ceil(wanted.length / limit) + 1;
    const ids = await walk(ofAccounts(read, new Set(accounts)), limit, pages);
    t.same(
      ids,
      wanted.map(({ id }) => id),
      `in pages of ${limit}`,
    );
  }
  t.equal(ofAccounts(read, null), read, 'a key without accounts reads the list itself');
});

t.test('many accounts read little more than one', async (t) => {
  const names = Array.from({ length: 50 }, (_, n) => `acc_${n}`);
  const ofOne = (n: number) => (n % 10 === 0 ? n % 50 : 7);
  const lists = { evenly: (n: number) => n % 50, 'nearly all in one account': ofOne };
  for (const [name, accountOf] of Object.entries(lists)) {
    const all = Array.from({ length: 5_000 }, (_, n) => message(`acc_${accountOf(n)}`, n, `m${n}`));
    const { read, found } = listOf(all);
    await walk(ofAccounts(read, new Set(names)), 500, 2);
    t.ok(found.rows <= 3_000, `${name}: ${found.rows} rows for 1,000 messages`);
  }
});
