import type { BinaryNode, WAMessage } from 'baileys';
import type { DriverEvent, DriverLog } from '../../core/contracts/driver.ts';
import type { AccountKeys } from './account-keys.ts';
import { hiddenIdOf, isOneContact, phoneOf } from './addresses.ts';
import { importedEvents } from './imports.ts';
import { messageEventOf } from './inbound-message.ts';
import type { Library, LibrarySocket } from './library.ts';
import { libraryLog } from './library-log.ts';
import { lateFailureOf, receiptsOf } from './receipts.ts';

/** What the gate is made of. */
export interface InboundParts {
  readonly library: Library;
  readonly keys: AccountKeys;
  readonly log: DriverLog;
  readonly accountId: string;
  /** Resolves once the event is durable. */
  emit(event: DriverEvent): Promise<void>;
  /** Whether the answer to a send with this reference is still waited for. */
  isSending(reference: string): boolean;
}

/** Pause before credentials that could not be written are tried again, in milliseconds. */
const againMs = 250;

/**
 * Stands between the network and the library. The library acknowledges a message or a receipt by itself, before
 * anybody could have stored it, so each is looked at here first and handed on, and thereby acknowledged, only when
 * the gateway has kept it. What could not be kept is not handed on: the network offers it again.
 */
export class Inbound {
  readonly #parts: InboundParts;
  readonly #socket: LibrarySocket;
  /** One message after the other: the next is decrypted with what the one before has left. */
  #messages: Promise<void>;
  #open: () => void = () => undefined;
  readonly #opened: Promise<void>;
  #over = false;
  #saidLeftOut = false;

  /** To be made before anything has come through the socket. */
  constructor(parts: InboundParts, socket: LibrarySocket) {
    this.#parts = parts;
    this.#socket = socket;
    this.#opened = new Promise((resolve) => {
      this.#open = resolve;
    });
    this.#messages = this.#opened;
    this.#stand('CB:message', (node, handOn) => {
      this.#messages = this.#messages.then(() => this.#message(node, handOn));
    });
    this.#stand('CB:receipt', (node, handOn) => {
      void this.#opened.then(() => this.#receipt(node, handOn));
    });
    socket.ws.on('CB:ack,class:message', (node: BinaryNode) => this.#answered(node));
  }

  /** Lets through what has come so far and what comes. */
  open(): void {
    this.#open();
  }

  /** Nothing is handed on any more. */
  close(): void {
    this.#over = true;
  }

  /** Takes the place of the library's own listeners, which are then called by `handOn`. */
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

  async #message(node: BinaryNode, handOn: () => void): Promise<void> {
    if (this.#over) return;
    if (!isOneContact(node.attrs.from)) return await this.#leaveOut(node);
    const hold = this.#parts.keys.writes.hold();
    try {
      const message = await hold.run(() => this.#decrypt(node));
      for await (const event of this.#eventsOf(message)) await this.#parts.emit(event);
      hold.release();
      await this.#written();
      handOn();
    } catch (error) {
      hold.undo();
      if (this.#over) return;
      const facts = { accountId: this.#parts.accountId, ...said(error) };
      this.#parts.log.warn(facts, 'a message could not be kept: the network will offer it again');
    }
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
    const { remoteJid, remoteJidAlt } = fullMessage.key;
    const [hidden, phone] = hiddenIdOf(remoteJid)
      ? [remoteJid, remoteJidAlt]
      : [remoteJidAlt, remoteJid];
    if (hidden && phone && hiddenIdOf(hidden) && phoneOf(phone)) {
      // Which of a contact's two addresses a key stands under depends on this.
      await signalRepository.lidMapping.storeLIDPNMappings([{ lid: hidden, pn: phone }]);
      await signalRepository.migrateSession(phone, hidden);
    }
    await decrypt();
    return fullMessage;
  }

  async *#eventsOf(message: WAMessage): AsyncIterable<DriverEvent> {
    const { library, keys } = this.#parts;
    const event = messageEventOf(library, this.#socket, message);
    if (event !== null) yield event;
    const history = message.key.fromMe ? library.getHistoryMsg(message.message ?? {}) : undefined;
    if (history) yield* importedEvents(library, this.#socket, history, keys.imports);
  }

  /** While the credentials cannot be written there is no acknowledgement either. */
  async #written(): Promise<void> {
    for (;;) {
      try {
        return await this.#parts.keys.writes.durable();
      } catch (error) {
        if (this.#over) throw error;
        await new Promise((resolve) => setTimeout(resolve, againMs));
      }
    }
  }

  async #receipt(node: BinaryNode, handOn: () => void): Promise<void> {
    try {
      const { me } = this.#parts.keys.login;
      const own = [me?.id, me?.lid].flatMap((address) => (address ? [address] : []));
      await Promise.all(receiptsOf(node, own).map((receipt) => this.#parts.emit(receipt)));
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
    if (!this.#saidLeftOut) {
      this.#saidLeftOut = true;
      const { log, accountId } = this.#parts;
      log.info({ accountId }, 'groups, channels and status broadcasts are left out');
    }
    await this.#socket.sendMessageAck(node).catch(() => undefined);
  }
}

function said(error: unknown): { readonly error: string } {
  return { error: error instanceof Error ? error.message : String(error) };
}
