import type { Tables } from '../../../core/contracts/storage.ts';
import type { WantedAccounts } from '../../../core/scopes.ts';
import type { MessageWithContact } from '../tables/message-rows.ts';

/** The most messages of one answer. */
export const waitPageSize = 50;

/** What a long poll found, oldest first, and where the next one goes on. Those that read together have the same one. */
export interface WaitResult {
  readonly messages: readonly MessageWithContact[];
  readonly position: number;
}

/** What a long poll reads. */
export interface WaitQuestion {
  readonly tenantId: string;
  /** Of these accounts only; null for all of the tenant. */
  readonly accounts: WantedAccounts;
  /** The number of the last message seen. */
  readonly position: number;
}

/**
 * Reads what comes after a position: an empty page where there is nothing.
 * @param last up to this number all messages are committed, or none is stored meanwhile
 */
export async function readPage(
  { messages }: Pick<Tables, 'messages'>,
  { tenantId, accounts, position }: WaitQuestion,
  last: number,
): Promise<WaitResult> {
  const pages = [...(accounts ?? [null])].map((accountId) =>
    messages.inboundAfter(tenantId, position, accountId, waitPageSize),
  );
  const page = (await Promise.all(pages))
    .flat()
    .filter(({ inboundSequence }) => (inboundSequence ?? 0) <= last)
    .sort((one, other) => (one.inboundSequence ?? 0) - (other.inboundSequence ?? 0))
    .slice(0, waitPageSize);
  return { messages: page, position: page.at(-1)?.inboundSequence ?? position };
}

/** One text for long polls that read the same, and so share a read and its result. It begins with the tenant. */
export function questionKey({ tenantId, accounts, position }: WaitQuestion): string {
  return `${tenantId} ${accountsKey(accounts)} ${position}`;
}

/** The accounts as one text: long polls of the same ones are handed the same. */
export function accountsKey(accounts: WantedAccounts): string {
  return accounts === null ? '' : `of ${[...accounts].sort().join()}`;
}
