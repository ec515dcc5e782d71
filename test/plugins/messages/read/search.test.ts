import t from 'tap';
import { scanned, searchPage, wordsOf } from '../../../../plugins/messages/read/search.ts';
import type { MessageFilter } from '../../../../plugins/messages/tables/message-lists.ts';
import type { MessageWithContact } from '../../../../plugins/messages/tables/message-rows.ts';

/** The newest has the highest number; only what a search reads of a message is there. */
function messages(count: number, textOf: (n: number) => string): MessageWithContact[] {
  const list = Array.from({ length: count }, (_, n) => ({
    ...{ id: `msg_${String(n).padStart(6, '0')}`, createdAt: n, text: textOf(n) },
    ...{ status: 'received', error: null },
  }));
  return list.reverse() as unknown as MessageWithContact[];
}

const any = { status: null, errorCode: null, words: [] };

async function all(rows: readonly MessageWithContact[], limit: number, q: string) {
  let reads = 0;
  const list = async ({ before, limit }: MessageFilter) => {
    reads += 1;
    return rows
      .filter((row) => before === null || row.createdAt < before.createdAt)
      .slice(0, limit);
  };
  const found: string[] = [];
  const sizes: number[] = [];
  let before: MessageFilter['before'] = null;
  do {
    const filter = { direction: null, accountId: null, before, limit };
    const page = await searchPage(list, filter, { ...any, words: wordsOf(q) });
    found.push(...page.messages.map(({ id }) => id));
    sizes.push(page.messages.length);
    before = page.next;
  } while (before !== null);
  return { found, sizes, reads };
}

t.test('every match comes once, in order, whatever the page', async (t) => {
  const rows = messages(5_000, (n) => (n % 7 === 0 ? 'A Needle' : 'hay'));
  const expected = rows.filter(({ text }) => text !== 'hay').map(({ id }) => id);
  for (const limit of [1, 3, 50, 99]) {
    const { found } = await all(rows, limit, 'needle a');
    t.strictSame(found, expected, `pages of ${limit}`);
  }
  const plain = await all(rows, 100, '');
  t.strictSame(
    plain.found,
    rows.map(({ id }) => id),
  );
});

t.test('a rare word costs no more reads than a common one', async (t) => {
  const rows = messages(10_000, (n) => (n === 0 ? 'needle' : 'hay'));
  const { found, sizes } = await all(rows, 10, 'needle');
  t.strictSame(found, ['msg_000000']);
  t.equal(sizes.length, 10_000 / scanned + 1, 'empty pages on the way, and one that sees the end');
});
