import type { ReceiptEvent } from '../../../core/contracts/driver.ts';
import type { LeaseToken } from '../../cluster/contract.ts';
import type { Contact, MessageRecipient } from '../../contacts/contract.ts';
import type { RaisedEvent, StoreEvents } from '../../events/contract.ts';
import { messageEvent } from '../events.ts';
import { storedNetworkId } from '../network-ids.ts';
import type { StatusChange } from '../status.ts';
import type { StoredMessage } from '../tables/message-rows.ts';
import { networkKey } from '../tables/messages.ts';

/** What is read behind the locks of the leases. */
export interface SessionPrefetch {
  /** The leases of sessions that are valid. */
  readonly held: ReadonlySet<LeaseToken>;
  /** Locked. */
  readonly messages: readonly StoredMessage[];
  readonly contacts: readonly MessageRecipient[];
  /** The ids of messages that receipts name by the network's id only, by `networkKey`. */
  readonly named: ReadonlyMap<string, string>;
  /** Read ahead where events are to be expected. */
  readonly storeEvents: StoreEvents | null;
}

/** The messages that a batch of inputs is decided on, with the changes of the inputs decided so far. */
export class SessionBatch {
  /** The database's clock. */
  readonly now: number;
  readonly changed = new Map<string, StoredMessage>();
  readonly events: RaisedEvent[] = [];
  /** What receipts have changed, of messages with a trace. */
  readonly traced: { readonly message: StoredMessage; readonly receipt: ReceiptEvent }[] = [];
  /** Each message as it was when it reached a status, in order. */
  readonly reached: StoredMessage[] = [];
  readonly #messages: Map<string, StoredMessage>;
  /** The messages about which nothing was raised yet when the batch began. */
  readonly #quiet: ReadonlySet<string>;
  readonly #contacts: ReadonlyMap<string, MessageRecipient>;
  /** The ids of messages by `networkKey`. */
  readonly #named: Map<string, string>;

  constructor(now: number, { messages, contacts, named }: SessionPrefetch) {
    this.now = now;
    this.#messages = new Map(messages.map((message) => [message.id, message]));
    this.#quiet = new Set(messages.flatMap(({ id, status }) => (status === 'queued' ? id : [])));
    this.#contacts = new Map(contacts.map((contact) => [contact.id, contact]));
    this.#named = new Map(named);
  }

  /** A message of this account, with its contact. */
  find(
    accountId: string,
    id: string | null | undefined,
  ): { readonly message: StoredMessage; readonly contact: MessageRecipient } | null {
    const message = this.#messages.get(id ?? '');
    const contact = this.#contacts.get(message?.contactId ?? '');
    if (message?.accountId !== accountId || contact === undefined) return null;
    return { message, contact };
  }

  /** A message that this account sent, by the network's id. */
  findNamed(accountId: string, networkId: string | null) {
    if (networkId === null) return null;
    return this.find(accountId, this.#named.get(networkKey(accountId, storedNetworkId(networkId))));
  }

  /** Enters what became of a message. With a private contact no event is raised. */
  enter({ message, raised }: StatusChange, contact: Contact): void {
    const { id, accountId, networkId } = message;
    this.#messages.set(id, message);
    this.changed.set(id, message);
    // A receipt that comes right behind the answer may name the id that the answer brought.
    if (networkId !== null) this.#named.set(networkKey(accountId, networkId), id);
    for (const one of raised) {
      this.reached.push(one.message);
      if (contact.private) continue;
      const event = messageEvent(one.message, contact, one.status, this.now);
      this.events.push({ ...event, first: this.#quiet.has(id) });
    }
  }
}
