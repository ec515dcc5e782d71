import type { components } from '../../../client/generated/schema.ts';
import type { Session } from './session.ts';

type Conversation = components['schemas']['Conversation'];

/** What was read of a list of conversations. */
export interface Conversations {
  readonly items: readonly Conversation[];
  readonly hasMore: boolean;
}

/**
 * Reads page after page until so many conversations are there, or as many reads as that may take are made: a search may
 * answer short pages.
 * @throws Refusal, Unreachable
 */
export async function readConversations(
  { client }: Session,
  filter: { readonly q?: string; readonly account_id?: string },
  size: number,
  readsAtMost: number,
): Promise<Conversations> {
  const items: Conversation[] = [];
  let before: string | null = null;
  let reads = 0;
  do {
    const query = { ...filter, limit: Math.min(size - items.length, 100) };
    const page: { conversations: Conversation[]; next_cursor: string | null } = await client.call(
      'list_conversations',
      { query: before === null ? query : { ...query, before } },
    );
    items.push(...page.conversations);
    before = page.next_cursor;
    reads += 1;
  } while (before !== null && items.length < size && reads < readsAtMost);
  return { items, hasMore: before !== null };
}
