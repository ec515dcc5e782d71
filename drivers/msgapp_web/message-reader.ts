import type { BinaryNode, WAMessage } from 'baileys';
import type { DriverEvent, DriverLog, LeftOutKind } from '../../core/contracts/driver.ts';
import type { AccountKeys } from './account-keys.ts';
import {
  addressOfPhone,
  hiddenIdOf,
  isOneContact,
  isOwn,
  ownAddresses,
  phoneOfAddress,
} from './addresses.ts';
import type { Arriving } from './arriving.ts';
import type { Awaited } from './awaited.ts';
import type { ContactBook } from './contact-book.ts';
import type { Erased } from './erased.ts';
import { errorText } from './error-text.ts';
import type { Histories } from './histories.ts';
import type { Identities } from './identities.ts';
import { inboundMessageOf, messageEventOf, writerAddresses } from './inbound-message.ts';
import type { Library, LibrarySocket } from './library.ts';
import { libraryLog } from './library-log.ts';
import { type Resent, resentIn } from './resent.ts';

/** Dependencies of the message reader. */
export interface MessageReaderParts {
  readonly library: Library;
  readonly keys: AccountKeys;
  readonly book: ContactBook;
  readonly erased: Erased;
  readonly log: DriverLog;
  readonly accountId: string;
  /** Counts what is no message. */
  leftOut(kind: LeftOutKind): void;
}

/** Reads messages of the network: decrypts each, and makes the gateway's events of it. */
export class MessageReader {
  readonly #parts: MessageReaderParts;
  readonly #socket: LibrarySocket;
  readonly #arriving: Arriving;
  readonly #awaited: Awaited;
  readonly #identities: Identities;
  readonly #histories: Histories;

  constructor(
    parts: MessageReaderParts,
    socket: LibrarySocket,
    arriving: Arriving,
    awaited: Awaited,
    identities: Identities,
    histories: Histories,
  ) {
    this.#parts = parts;
    this.#socket = socket;
    this.#arriving = arriving;
    this.#awaited = awaited;
    this.#identities = identities;
    this.#histories = histories;
  }

  /**
   * Decrypts a message; one that cannot be read is marked as such, and the library asks for it again.
   * @returns null when nobody can take it apart: the library refuses it
   */
  async decrypt(node: BinaryNode): Promise<WAMessage | null> {
    const taken = this.#takenApart(node);
    if (taken === null) return null;
    const { signalRepository } = this.#socket;
    const { fullMessage, decrypt } = taken;
    const seconds = Number(fullMessage.messageTimestamp);
    if (!(seconds >= 0 && seconds < Number.MAX_SAFE_INTEGER / 1_000)) {
      fullMessage.messageTimestamp = Math.floor(Date.now() / 1_000);
    }
    const [one, other] = writerAddresses(fullMessage.key);
    const [hidden, phone] = hiddenIdOf(one) ? [one, other] : [other, one];
    const [lid, number] = [hiddenIdOf(hidden), phoneOfAddress(phone)];
    if (hidden && phone && lid && number) {
      // The address under which a contact's key is stored depends on this. The library takes no pair of rented devices.
      await signalRepository.lidMapping.storeLIDPNMappings([{ lid, pn: addressOfPhone(number) }]);
      await signalRepository.migrateSession(phone, hidden);
    }
    await decrypt();
    return fullMessage;
  }

  #takenApart(node: BinaryNode): ReturnType<Library['decryptMessageNode']> | null {
    const { library, keys, log, accountId, leftOut } = this.#parts;
    const { id = '', lid = '' } = keys.login.me ?? {};
    const own = libraryLog(log, accountId);
    try {
      return library.decryptMessageNode(node, id, lid, this.#socket.signalRepository, own);
    } catch (error) {
      log.warn(
        { accountId, networkId: node.attrs.id, error: errorText(error) },
        'a message is lost: it is none of the protocol',
      );
      leftOut('unreadable');
      return null;
    }
  }

  /** What the gateway is to store of a decrypted message at once. */
  async *eventsOf(message: WAMessage, node: BinaryNode): AsyncIterable<DriverEvent> {
    const { library, keys } = this.#parts;
    // The library takes a list of the owner's own for a contact's where it names the owner by the hidden id.
    const own = ownAddresses(keys.login.me);
    const isOurs = message.key.fromMe || isOwn(writerAddresses(message.key)[0], own);
    if (!isOurs) return yield* this.#written(message, withheldAs(node));
    const history = library.getHistoryMsg(message.message ?? {});
    if (history) yield* this.#histories.eventsOf(message.key.id ?? '', history);
    for (const resent of resentIn(library, message)) yield* this.#resent(resent);
  }

  /** Events of what a contact wrote; `Arriving` takes a message that has to wait for a file. */
  async *#written(message: WAMessage, withheld: string | null): AsyncIterable<DriverEvent> {
    const { library, book, erased, leftOut } = this.#parts;
    const { id } = message.key;
    // It comes again: its acknowledgement was lost.
    if (this.#arriving.has(id ?? '')) return this.#awaited.received(id ?? '');
    const writer = writerAddresses(message.key);
    const [one, other] = writer;
    const from = await book.person(one, other, message.pushName || message.verifiedBizName || null);
    if (from === null) return;
    await book.noteAddressing(one, from);
    const inbox = inboundMessageOf(message, from, withheld);
    if (inbox === null) return this.#awaited.add(message);
    if (inbox.type === 'left_out') {
      leftOut(inbox.kind);
      await this.#identities.tellName(from);
    } else {
      const { written } = inbox;
      const addresses = writer.filter((address) => address !== undefined);
      await erased.meet([...addresses, from.phone, from.networkId]);
      const receivedAt = this.#awaited.receivedAt(id ?? '');
      const isTaken = this.#arriving.take(written, addresses, receivedAt);
      if (!isTaken) yield messageEventOf(library, this.#socket, written);
      this.#identities.note(from);
    }
    this.#awaited.received(id ?? '');
  }

  /** What the account's phone handed over later. */
  async *#resent({ id, message }: Resent): AsyncIterable<DriverEvent> {
    if (message === null) return this.#awaited.giveUp(id);
    // The phone was asked before its writer was erased.
    if (this.#awaited.isErased(id)) return;
    const envelope = this.#awaited.of(id);
    const { key, pushName, at } = envelope ?? { ...message, at: null };
    const messageTimestamp = at ?? message.messageTimestamp ?? Math.floor(Date.now() / 1_000);
    const whole = { ...message, key, pushName, messageTimestamp };
    if (isOneContact(writerAddresses(whole.key)[0])) yield* this.#written(whole, null);
  }
}

/** The reason for which the network withholds the content of a message; null when it does not. */
function withheldAs({ content }: BinaryNode): string | null {
  const part = Array.isArray(content)
    ? content.find(({ tag }) => tag === 'unavailable')
    : undefined;
  return part?.attrs.type ?? null;
}
