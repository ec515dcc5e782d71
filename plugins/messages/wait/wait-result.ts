import type { WantedAccounts } from '../../../core/scopes.ts';
import type { MessageWithContact } from '../tables/message-rows.ts';

/** The most messages of one answer. */
export const waitPageSize = 50;

/** What a long poll found, oldest first, and where the next one goes on. Those that read together have the same one. */
export interface WaitResult {
  readonly messages: readonly MessageWithContact[];
  readonly position: number;
}

/** The accounts as one text: long polls of the same ones are handed the same. */
export function accountsKey(accounts: WantedAccounts): string {
  return accounts === null ? '' : `of ${[...accounts].sort().join()}`;
}
