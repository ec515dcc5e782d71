import type { BinaryNode } from 'baileys';
import type { DriverEvent, ReceiptEvent } from '../../core/contracts/driver.ts';
import { isBroadcastList, isOneContact, isOwn, ownAddresses } from './addresses.ts';
import { allOf } from './all-of.ts';
import { Arriving, retryPausesMs } from './arriving.ts';
import { Awaited } from './awaited.ts';
import { errorText } from './error-text.ts';
import { Histories } from './histories.ts';
import { Identities } from './identities.ts';
import type { LibrarySocket } from './library.ts';
import { MessageReader, type MessageReaderParts } from './message-reader.ts';
import { changedCollections, PhoneSettings } from './phone-settings.ts';
import { lateFailureOf, receiptsOf } from './receipts.ts';
import type { SentTo } from './sent-to.ts';

/** Dependencies of the relay. */
export interface InboundRelayParts extends MessageReaderParts {
  /** Resolves once the event is durable. */
  emit(event: DriverEvent): Promise<void>;
  /** Whether the answer to a send with this reference is still waited for. */
  isSending(reference: string): boolean;
  readonly sentTo: Pick<SentTo, 'of'>;
}

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
  readonly #arriving: Arriving;
  readonly #awaited: Awaited;
  readonly #identities: Identities;
  readonly #settings: PhoneSettings;
  readonly #histories: Histories;
  readonly #reader: MessageReader;
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
    this.#arriving = new Arriving(parts, socket);
    this.#awaited = new Awaited(parts, socket);
    this.#identities = new Identities(parts, socket, this.#opened);
    this.#settings = new PhoneSettings(parts, socket);
    this.#histories = new Histories(parts, socket);
    this.#reader = new MessageReader(
      parts,
      socket,
      this.#arriving,
      this.#awaited,
      this.#identities,
      this.#histories,
    );
    const started = this.#opened
      .then(() => this.#arriving.start())
      .then(() => this.#awaited.start())
      .then(() => this.#identities.start())
      .then(() => this.#settings.start())
      .then(() => this.#histories.start());
    this.#messages = started.catch(() => undefined);
    this.#stand('CB:message', (node, handOn) => {
      this.#offered.push({ node, handOn });
      this.#messages = this.#messages.then(() => this.#group(this.#offered.splice(0, together)));
    });
    this.#stand('CB:receipt', (node, handOn) => {
      void this.#opened.then(() => this.#receipt(node, handOn));
    });
    this.#stand('CB:notification', (node, handOn) => {
      const collections = changedCollections(node);
      if (collections.length === 0) handOn();
      else
        void started.then(() => this.#settings.changed(node, collections)).catch(() => undefined);
    });
    socket.ws.on('CB:ack,class:message', (node: BinaryNode) => this.#answered(node));
    socket.ws.on('CB:call,,offer', () => parts.leftOut('call'));
  }

  /** Lets through what has come so far and what comes. */
  open(): void {
    this.#open();
  }

  /** Drops what is in memory of an erased contact. @param users as in `usersIn` these names */
  forget(names: readonly string[], users: readonly string[]): void {
    this.#arriving.forget(names);
    this.#awaited.forget(names);
    this.#identities.forget(users);
  }

  /** Nothing is handed on any more. */
  close(): void {
    this.#over = true;
    this.#arriving.close();
    this.#awaited.close();
    this.#identities.close();
    this.#settings.close();
    this.#histories.close();
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
    await this.#arriving.room();
    const wanted: Offered[] = [];
    for (const one of offered) {
      if (this.#over) return;
      const { from } = one.node.attrs;
      if (isOneContact(from) || isBroadcastList(from)) wanted.push(one);
      else await this.#leaveOut(one.node);
    }
    await this.#keepAll(wanted);
  }

  async #keepAll(offered: readonly Offered[]): Promise<void> {
    if (offered.length === 0 || (await this.#keep(offered))) return;
    // One of them cannot be kept: the others are, once each has its own turn.
    for (const one of offered) {
      if (offered.length === 1 || !(await this.#keep([one]))) this.#keepLater(one, retryPausesMs);
    }
  }

  /** Tries again after these pauses, in which others have their turns. */
  #keepLater(one: Offered, [pauseMs, ...pauses]: readonly number[]): void {
    if (pauseMs === undefined) return;
    const again = async (): Promise<void> => {
      if (!(await this.#keep([one]))) this.#keepLater(one, pauses);
    };
    const timer = setTimeout(() => {
      this.#messages = this.#messages.then(again);
    }, pauseMs);
    timer.unref();
  }

  /**
   * Stores messages, then the keys that they have changed, all in one write, with what waits for a file; false: they are
   * to be offered again.
   */
  async #keep(offered: readonly Offered[]): Promise<boolean> {
    if (this.#over) return true;
    const hold = this.#parts.keys.writes.hold();
    const storing: Promise<void>[] = [];
    try {
      for (const { node } of offered) {
        const message = await hold.run(() => this.#reader.decrypt(node));
        if (message === null) continue;
        for await (const event of this.#reader.eventsOf(message, node)) {
          const stored = this.#parts.emit(event);
          stored.catch(() => undefined);
          if (event.type === 'message') storing.push(stored);
          else await stored;
        }
      }
      await allOf(storing);
      if (this.#over) throw new Error('the connection is over');
      // One write with the keys, which begins at the end of this turn.
      this.#arriving.keep();
      hold.release();
      // While the credentials cannot be written there is no acknowledgement either.
      await this.#parts.keys.writes.surelyDurable();
      this.#arriving.begin();
      for (const { handOn } of offered) handOn();
    } catch (error) {
      await allOf(storing).catch(() => undefined);
      hold.undo();
      this.#arriving.giveBack();
      if (this.#over) return true;
      const fields = {
        accountId: this.#parts.accountId,
        messages: offered.length,
        error: errorText(error),
      };
      this.#parts.log.warn(fields, 'messages could not be kept: they come again');
      return false;
    }
    return true;
  }

  async #receipt(node: BinaryNode, handOn: () => void): Promise<void> {
    try {
      const own = ownAddresses(this.#parts.keys.login.me);
      const receipts = receiptsOf(node, own);
      await Promise.all(receipts.map((receipt) => this.#reported(receipt, node.attrs.from)));
      handOn();
    } catch (error) {
      if (this.#over) return;
      const fields = { accountId: this.#parts.accountId, error: errorText(error) };
      this.#parts.log.warn(fields, 'a receipt could not be kept: the network will offer it again');
    }
  }

  /** Drops a receipt that surely comes from somebody other than the message's contact: ids can be guessed. */
  async #reported(receipt: ReceiptEvent, from = ''): Promise<void> {
    const { book, sentTo, emit, leftOut, log, accountId } = this.#parts;
    const { reference } = receipt;
    const to = sentTo.of(reference ?? '');
    // Mostly without a turn in between: receipts keep their order.
    const isUsual = to === undefined || isOwn(from, [to]);
    if (isUsual || !(await book.areStrangers(from, to))) return await emit(receipt);
    log.debug({ accountId, message: reference }, 'a receipt is left out: it is of somebody else');
    leftOut('receipt');
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
