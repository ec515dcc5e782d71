import type { BinaryNode, WAMessage } from 'baileys';
import type { DriverEvent, DriverLog, LeftOutKind } from '../../core/contracts/driver.ts';
import type { AccountKeys } from './account-keys.ts';
import {
  hiddenIdOf,
  isBroadcastList,
  isOneContact,
  isOwn,
  ownAddresses,
  phoneOfAddress,
} from './addresses.ts';
import { Awaited } from './awaited.ts';
import type { ContactBook } from './contact-book.ts';
import { Identities } from './identities.ts';
import { importedEvents } from './imports.ts';
import { inboundMessageOf, writerAddresses } from './inbound-message.ts';
import type { Library, LibrarySocket } from './library.ts';
import { libraryLog } from './library-log.ts';
import { lateFailureOf, receiptsOf } from './receipts.ts';
import { type Resent, resentIn } from './resent.ts';

/** What the relay is made of. */
export interface InboundRelayParts {
  readonly library: Library;
  readonly keys: AccountKeys;
  readonly book: ContactBook;
  readonly log: DriverLog;
  readonly accountId: string;
  /** Counts what is no message. */
  leftOut(kind: LeftOutKind): void;
  /** Resolves once the event is durable. */
  emit(event: DriverEvent): Promise<void>;
  /** Whether the answer to a send with this reference is still waited for. */
  isSending(reference: string): boolean;
}

/** Pause before credentials that could not be written are tried again, in milliseconds. */
const againMs = 250;
/** How many messages at most share a write of keys: a send to one of their writers waits for it. */
const together = 32;
/** Where status posts come from. */
const statusPosts = 'status@broadcast';

/** A message as the network offers it. */
interface Offered {
  readonly node: BinaryNode;
  /** Gives it to the library, which acknowledges it. */
  readonly handOn: () => void;
}

/**
 * Relays messages and receipts from the network to the gateway, then to the library. The library acknowledges by
 * itself, so it gets each only when the gateway has stored it; the network offers any other again.
 */
export class InboundRelay {
  readonly #parts: InboundRelayParts;
  readonly #socket: LibrarySocket;
  readonly #awaited: Awaited;
  readonly #identities: Identities;
  /** Messages in the order in which they came. */
  readonly #offered: Offered[] = [];
  /** One group after the other: the next is decrypted with what the one before has left. */
  #messages: Promise<void>;
  #open: () => void = () => undefined;
  readonly #opened: Promise<void>;
  #over = false;
  #saidLeftOut = false;

  /** To be made before anything has come through the socket. */
  constructor(parts: InboundRelayParts, socket: LibrarySocket) {
    this.#parts = parts;
    this.#socket = socket;
    this.#opened = new Promise((resolve) => {
      this.#open = resolve;
    });
    this.#awaited = new Awaited(parts, socket);
    this.#identities = new Identities(parts, socket, this.#opened);
    this.#messages = this.#opened
      .then(() => this.#patiently(() => this.#awaited.start()))
      .then(() => this.#patiently(() => this.#identities.start()))
      .catch(() => undefined);
    this.#stand('CB:message', (node, handOn) => {
      this.#offered.push({ node, handOn });
      this.#messages = this.#messages.then(() => this.#group(this.#offered.splice(0, together)));
    });
    this.#stand('CB:receipt', (node, handOn) => {
      void this.#opened.then(() => this.#receipt(node, handOn));
    });
    socket.ws.on('CB:ack,class:message', (node: BinaryNode) => this.#answered(node));
    socket.ws.on('CB:call,,offer', () => parts.leftOut('call'));
  }

  /** Lets through what has come so far and what comes. */
  open(): void {
    this.#open();
  }

  /** Nothing is handed on any more. */
  close(): void {
    this.#over = true;
    this.#awaited.close();
    this.#identities.close();
  }

  /** Replaces the library's own listeners, which `handOn` calls later. */
  #stand(name: string, take: (node: BinaryNode, handOn: () => void) => void): void {
    const { ws } = this.#socket;
    const listeners = ws.listeners(name);
    ws.removeAllListeners(name);
    ws.on(name, (node: BinaryNode) => {
      take(node, () => {
        if (!this.#over) for (const listener of listeners) listener.call(ws, node);
      });
    });
  }

  async #group(offered: readonly Offered[]): Promise<void> {
    const kept: Offered[] = [];
    for (const { node, handOn } of offered) {
      if (this.#over) return;
      const { from } = node.attrs;
      if (isOneContact(from) || isBroadcastList(from)) kept.push({ node, handOn });
      else await this.#leaveOut(node);
    }
    if (kept.length > 0 && !(await this.#keep(kept)) && kept.length > 1) {
      // One of them cannot be kept: the others are, once each has its own turn.
      for (const one of kept) await this.#keep([one]);
    }
  }

  /** Stores messages, then the keys that they have changed, all in one write; false: they are to be offered again. */
  async #keep(offered: readonly Offered[]): Promise<boolean> {
    if (this.#over) return true;
    const hold = this.#parts.keys.writes.hold();
    const storing: Promise<void>[] = [];
    try {
      for (const { node } of offered) {
        const message = await hold.run(() => this.#decrypt(node));
        for await (const event of this.#eventsOf(message, node)) {
          const stored = this.#parts.emit(event);
          stored.catch(() => undefined);
          if (event.type === 'message') storing.push(stored);
          else await stored;
        }
      }
      await allOf(storing);
      hold.release();
      // While the credentials cannot be written there is no acknowledgement either.
      await this.#patiently(() => this.#parts.keys.writes.durable());
      for (const { handOn } of offered) handOn();
    } catch (error) {
      await allOf(storing).catch(() => undefined);
      hold.undo();
      if (this.#over) return true;
      const facts = { accountId: this.#parts.accountId, messages: offered.length, ...said(error) };
      this.#parts.log.warn(facts, 'messages could not be kept: the network will offer them again');
      return false;
    }
    return true;
  }

  /** @returns the message; one that cannot be read is marked as such, and the library asks for it again */
  async #decrypt(node: BinaryNode): Promise<WAMessage> {
    const { library, keys, log, accountId } = this.#parts;
    const { signalRepository } = this.#socket;
    const { me } = keys.login;
    const own = libraryLog(log, accountId);
    const { fullMessage, decrypt } = library.decryptMessageNode(
      node,
      me?.id ?? '',
      me?.lid ?? '',
      signalRepository,
      own,
    );
    const [one, other] = writerAddresses(fullMessage.key);
    const [hidden, phone] = hiddenIdOf(one) ? [one, other] : [other, one];
    if (hidden && phone && hiddenIdOf(hidden) && phoneOfAddress(phone)) {
      // The address under which a contact's key is stored depends on this.
      await signalRepository.lidMapping.storeLIDPNMappings([{ lid: hidden, pn: phone }]);
      await signalRepository.migrateSession(phone, hidden);
    }
    await decrypt();
    return fullMessage;
  }

  async *#eventsOf(message: WAMessage, node: BinaryNode): AsyncIterable<DriverEvent> {
    const { library, keys, book } = this.#parts;
    // The library takes a list of the owner's own for a contact's where it names the owner by the hidden id.
    const isOurs = message.key.fromMe || isOwn(writerAddresses(message.key)[0], this.#own);
    if (!isOurs) return yield* this.#written(message, withheldAs(node));
    const history = library.getHistoryMsg(message.message ?? {});
    if (history) yield* importedEvents(library, this.#socket, book, history, keys.imports);
    for (const resent of resentIn(library, message)) yield* this.#resent(resent);
  }

  /** What a contact wrote. */
  async *#written(message: WAMessage, withheld: string | null): AsyncIterable<DriverEvent> {
    const { library, book, leftOut } = this.#parts;
    const [one, other] = writerAddresses(message.key);
    const from = await book.person(one, other, message.pushName || message.verifiedBizName || null);
    if (from === null) return;
    await book.noteAddressing(one, from);
    const inbox = inboundMessageOf(library, this.#socket, message, from, withheld);
    if (inbox === null) return this.#awaited.add(message);
    if (inbox.type === 'left_out') {
      leftOut(inbox.kind);
      await this.#identities.tellName(from);
    } else {
      yield inbox.event;
      this.#identities.note(from);
    }
    this.#awaited.received(message.key.id ?? '');
  }

  /** What the account's phone handed over later. */
  async *#resent({ id, message }: Resent): AsyncIterable<DriverEvent> {
    if (message === null) return this.#awaited.giveUp(id);
    const envelope = this.#awaited.of(id);
    const { key, pushName, at } = envelope ?? { ...message, at: null };
    const messageTimestamp = at ?? message.messageTimestamp ?? Math.floor(Date.now() / 1_000);
    const whole = { ...message, key, pushName, messageTimestamp };
    if (isOneContact(writerAddresses(whole.key)[0])) yield* this.#written(whole, null);
  }

  get #own(): readonly string[] {
    return ownAddresses(this.#parts.keys.login.me);
  }

  /** Tries again until it works, unless the connection is over. */
  async #patiently(work: () => Promise<void>): Promise<void> {
    for (;;) {
      try {
        return await work();
      } catch (error) {
        if (this.#over) throw error;
        await new Promise((resolve) => setTimeout(resolve, againMs));
      }
    }
  }

  async #receipt(node: BinaryNode, handOn: () => void): Promise<void> {
    try {
      await Promise.all(receiptsOf(node, this.#own).map((receipt) => this.#parts.emit(receipt)));
      handOn();
    } catch (error) {
      if (this.#over) return;
      const facts = { accountId: this.#parts.accountId, ...said(error) };
      this.#parts.log.warn(facts, 'a receipt could not be kept: the network will offer it again');
    }
  }

  /** An answer that nobody waits for, to a message that was taken before: it failed later. */
  #answered(node: BinaryNode): void {
    const failure = lateFailureOf(node);
    if (failure === null || this.#parts.isSending(failure.reference ?? '')) return;
    void this.#opened
      .then(() => (this.#over ? undefined : this.#parts.emit(failure)))
      .catch(() => undefined);
  }

  async #leaveOut(node: BinaryNode): Promise<void> {
    this.#parts.leftOut(node.attrs.from === statusPosts ? 'status_post' : 'group');
    if (!this.#saidLeftOut) {
      this.#saidLeftOut = true;
      const { log, accountId } = this.#parts;
      log.info({ accountId }, 'groups, channels and status broadcasts are left out');
    }
    await this.#socket.sendMessageAck(node).catch(() => undefined);
  }
}

/** Resolves when all have. @throws the first failure, once none is under way */
async function allOf(works: readonly Promise<void>[]): Promise<void> {
  const failed = (await Promise.allSettled(works)).find((work) => work.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}

/** The reason for which the network withholds the content of a message; null when it does not. */
function withheldAs({ content }: BinaryNode): string | null {
  const part = Array.isArray(content)
    ? content.find(({ tag }) => tag === 'unavailable')
    : undefined;
  return part?.attrs.type ?? null;
}

function said(error: unknown): { readonly error: string } {
  return { error: error instanceof Error ? error.message : String(error) };
}
