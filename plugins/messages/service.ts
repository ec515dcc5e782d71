import type { Messages } from '../../core/contracts/messages.ts';
import type { Storage } from '../../core/contracts/storage.ts';
import type { MintAddress } from '../../core/media-reference.ts';
import { mayUse } from '../../core/scopes.ts';
import { eraseSome, failUndispatched, forgetSome } from './forget-contact.ts';
import type { MessageReporter } from './message-reporter.ts';
import { type ListMessagesParts, shownMessages } from './read/list-messages.ts';
import { pagesOfContact } from './read/pages-of-contact.ts';
import { messageView } from './read/view.ts';
import type { Send } from './send/service.ts';

/** Dependencies of the service. */
export interface MessagesServiceParts {
  readonly read: Storage['read'];
  readonly lists: ListMessagesParts;
  /** Checks the bodies that it is given. */
  readonly send: Send;
  readonly forgetContact: Messages['forgetContact'];
  /** How long openers count, in milliseconds. */
  readonly openersMs: number;
  readonly mint: MintAddress;
  /** Deletes the files of deleted messages. */
  sweepMedia(): void;
  readonly reporter: MessageReporter;
}

/** Messages for other plugins, `messages` in the container. */
export function messagesService(parts: MessagesServiceParts): Messages {
  const { read, lists, send, forgetContact, openersMs, mint, reporter } = parts;
  return {
    send,
    forgetContact,
    list: (caller, query = {}) => shownMessages(lists, caller, query),
    async find({ tenantId, accountIds = null }, id) {
      const found = await read.messages.find(tenantId, id);
      const isShown = found !== null && mayUse({ accountIds }, found.accountId);
      return isShown ? messageView(found, mint) : null;
    },
    async forgetSome(unit, ...contact) {
      unit.afterCommit(() => parts.sweepMedia());
      return await forgetSome(unit, ...contact, reporter);
    },
    async *pagesOf(tenantId, contactId, limit) {
      for await (const page of pagesOfContact(read, tenantId, contactId, limit)) {
        yield page.map((message) => messageView(message, mint));
      }
    },
    async beginErasing(unit, tenantId, contactId) {
      await failUndispatched(unit, tenantId, contactId, 'contact_erased', reporter);
    },
    eraseSome: (...of) => eraseSome(...of, openersMs, reporter),
  };
}
