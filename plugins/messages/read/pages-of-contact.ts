import type { Tables } from '../../../core/contracts/storage.ts';
import type { ListPosition } from '../../../core/list-position.ts';
import type { MessageWithContact } from '../tables/message-rows.ts';

/** All messages with a contact, newest first, a page at a time. */
export async function* pagesOfContact(
  read: Pick<Tables, 'messages'>,
  tenantId: string,
  contactId: string,
  limit: number,
): AsyncGenerator<readonly MessageWithContact[]> {
  let before: ListPosition | null = null;
  for (;;) {
    const filter = { direction: null, accountId: null, contactId, before, limit };
    const page: readonly MessageWithContact[] = await read.messages.list(tenantId, filter);
    if (page.length > 0) yield page;
    const last = page.at(-1);
    if (last === undefined || page.length < limit) return;
    before = { createdAt: last.createdAt, id: last.id };
  }
}
