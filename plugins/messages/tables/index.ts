import type { Sql } from '../../../core/contracts/sql.ts';
import type { Tables } from '../../../core/contracts/storage.ts';
import { ContactMessageTable } from './contact-messages.ts';
import { ConversationTable } from './conversations.ts';
import { IdempotencyTable } from './idempotency.ts';
import { MessageTable } from './messages.ts';
import { QueuedMessageTable } from './queued-messages.ts';
import { SendingTable } from './sending.ts';
import { ThreadTable } from './threads.ts';
import { WaitTable } from './waits.ts';

/** The table objects of messages, and of all that sending, receiving and waiting for them needs. */
export interface MessageTables {
  readonly messages: MessageTable;
  readonly queuedMessages: QueuedMessageTable;
  readonly contactMessages: ContactMessageTable;
  readonly conversations: ConversationTable;
  readonly sending: SendingTable;
  readonly threads: ThreadTable;
  readonly idempotency: IdempotencyTable;
  readonly waits: WaitTable;
}

declare module '../../../core/contracts/storage.ts' {
  interface Tables extends MessageTables {}
}

/** Makes them for one transaction, or for the connections that only read. */
export function makeMessageTables(sql: Sql, media: Tables['media']): MessageTables {
  return {
    messages: new MessageTable(sql, media),
    queuedMessages: new QueuedMessageTable(sql),
    contactMessages: new ContactMessageTable(sql),
    conversations: new ConversationTable(sql),
    sending: new SendingTable(sql),
    threads: new ThreadTable(sql),
    idempotency: new IdempotencyTable(sql),
    waits: new WaitTable(sql),
  };
}
