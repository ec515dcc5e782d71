import type { BinaryNode } from 'baileys';
import { LRUCache } from 'lru-cache';
import {
  type ContactAddress,
  DriverError,
  type OutboundMessage,
  type Port,
  type Sent,
} from '../../core/contracts/driver.ts';
import { notConnected } from '../../core/contracts/driver-error.ts';
import { untilAborted, withTimeout } from '../../core/waiting.ts';
import type { AccountKeys } from './account-keys.ts';
import type { ContactBook } from './contact-book.ts';
import type { Erased } from './erased.ts';
import { sessionsFree } from './held-sessions.ts';
import type { LibrarySocket } from './library.ts';
import { MediaHosts } from './media-hosts.ts';
import type { NewContactLimits } from './new-contact-limits.ts';
import { outboundContentOf, uploadSilenceMs } from './outbound-content.ts';
import { ackErrors, ackRefusal } from './receipts.ts';
import type { Recipients } from './recipients.ts';
import {
  handOverFailure,
  NotUploaded,
  newContactRefusal,
  noAnswer,
  refused,
  uncertain,
} from './send-errors.ts';
import type { SentTo } from './sent-to.ts';
import { NoTemporaryRoom } from './temporary-room.ts';
import { isThrottled, type Throttle } from './throttle.ts';

/** How long the network may take to answer a message that was handed to it, in milliseconds. */
const answerTimeoutMs = 60_000;
/** How long a message with its upload may take to be handed over and answered, in milliseconds. */
const handoverTimeoutMs = 900_000;
/** Pause before a send is tried again that did not go out for a reason of our own; doubled each time. */
const againMs = 500;
/** How often such a send is tried. */
const attempts = 6;

/** Dependencies of sending. */
export interface OutboundParts {
  readonly keys: AccountKeys;
  readonly book: ContactBook;
  readonly recipients: Recipients;
  readonly socket: LibrarySocket;
  readonly port: Port;
  readonly limits: Pick<NewContactLimits, 'lock' | 'quota'>;
  /** Of the session: a throttle goes on when the connection is another. */
  readonly throttle: Throttle;
  readonly sentTo: Pick<SentTo, 'note'>;
  readonly erased: Pick<Erased, 'meet'>;
}

/** Sends through one socket. */
export class Outbound {
  readonly #parts: OutboundParts;
  readonly #mediaHosts: MediaHosts;
  readonly #sending = new Set<string>();
  /** How often messages were not sent for a reason of our own, by their references. */
  readonly #failures = new LRUCache<string, number>({ max: 1_000 });

  constructor(parts: OutboundParts) {
    this.#parts = parts;
    this.#mediaHosts = new MediaHosts(parts.socket);
  }

  isSending(reference: string): boolean {
    return this.#sending.has(reference);
  }

  /**
   * @param signal aborts when nobody waits any more or the connection is over
   * @throws DriverError
   */
  async send(message: OutboundMessage, signal: AbortSignal): Promise<Sent> {
    if (signal.aborted) throw notConnected();
    const { reference } = message;
    const handed = { over: false };
    this.#sending.add(reference);
    try {
      const answer = await untilAborted(signal, this.#exchange(message, handed, signal));
      if (answer === undefined) throw noAnswer();
      return this.#sent(reference, answer);
    } catch (error) {
      if (error instanceof DriverError) throw error;
      if (handed.over) throw uncertain(error);
      if (signal.aborted) throw notConnected(error);
      // All others are about contacts: the library too asks nothing else for a message.
      if (isThrottled(error)) throw this.#parts.throttle.failure(reference, error);
      throw this.#notSent(reference, error);
    } finally {
      this.#sending.delete(reference);
    }
  }

  /** A certain failure does not count as an attempt of the gateway: it is counted here. */
  #notSent(reference: string, cause: unknown): DriverError {
    const tries = (this.#failures.get(reference) ?? 0) + 1;
    this.#failures.set(reference, tries);
    const isNamed = cause instanceof NoTemporaryRoom || cause instanceof NotUploaded;
    const usual = 'the message could not be encrypted or handed over';
    return new DriverError('not_sent', isNamed ? cause.message : usual, {
      certain: true,
      retryAfterMs: tries < attempts ? againMs * 2 ** tries : null,
      concerns: 'contact',
      cause,
    });
  }

  /** Shows typing to a known contact; the message that follows ends it. */
  async typing(to: ContactAddress): Promise<void> {
    const { book, socket } = this.#parts;
    const destination = await book.destinationOf(to);
    if (destination !== null) await socket.sendPresenceUpdate('composing', destination);
  }

  async #exchange(
    message: OutboundMessage,
    handed: { over: boolean },
    signal: AbortSignal,
  ): Promise<BinaryNode | undefined> {
    const { book, limits, socket, erased } = this.#parts;
    const { to } = message;
    const destination = (await book.destinationOf(to)) ?? (await this.#lookUp(to));
    await erased.meet([to.phone, to.networkId, destination]);
    const answer = await this.#hand(message, destination, handed, signal);
    const error = answer?.attrs.error;
    if (error !== ackErrors.locked && error !== ackErrors.quota) return answer;
    // The network surely does not have it.
    handed.over = false;
    if (error === ackErrors.quota) throw newContactRefusal(error, await limits.quota(socket));
    const limit = await limits.lock(socket);
    // Without a lock the network refuses whoever it knows by the other address as somebody new.
    const other = limit?.isActive === false ? await book.otherAddressOf(to, destination) : null;
    if (other === null) throw newContactRefusal(error, limit);
    const last = await this.#hand(message, other, handed, signal);
    if (last?.attrs.error === ackErrors.locked) throw newContactRefusal(error, limit);
    if (last !== undefined && !last.attrs.error) await book.noteReached(to, other);
    return last;
  }

  async #hand(
    message: OutboundMessage,
    destination: string,
    handed: { over: boolean },
    signal: AbortSignal,
  ): Promise<BinaryNode | undefined> {
    const { keys, book, recipients, socket, port, sentTo } = this.#parts;
    const { reference } = message;
    const [contentOf] = await Promise.all([
      outboundContentOf(port, message, signal),
      recipients.ready(destination),
      message.media === null ? null : this.#mediaReady(reference),
    ]);
    await sessionsFree(keys, book, message.to, destination);
    signal.throwIfAborted();
    sentTo.note(reference, destination);
    const answer: Promise<BinaryNode | undefined> = socket.waitForMessage(
      reference,
      handoverTimeoutMs,
    );
    answer.catch(() => undefined);
    handed.over = true;
    try {
      const options = { messageId: reference, mediaUploadTimeoutMs: uploadSilenceMs };
      await Promise.race([socket.sendMessage(destination, contentOf(), options), answer]);
    } catch (error) {
      // Handing over fails only on a socket that is not open; before that nothing goes out.
      handed.over = !socket.ws.isOpen;
      // Of devices that came meanwhile one may have no keys.
      if (!handed.over) await recipients.forget(destination);
      throw handOverFailure(error);
    }
    return await withTimeout(answerTimeoutMs, noAnswer(), answer);
  }

  /** @throws NotUploaded when the network does not say where media are uploaded */
  async #mediaReady(reference: string): Promise<void> {
    try {
      await this.#mediaHosts.ready();
    } catch (error) {
      if (isThrottled(error)) throw this.#parts.throttle.mediaFailure(reference, error);
      throw new NotUploaded(error);
    }
  }

  /**
   * Asks the network for a number's address, which may be of another number, and keeps the answer: once a number.
   * @throws DriverError when the network does not know the number, or is not to be asked for now
   * @throws Error when it does not answer
   */
  async #lookUp(to: ContactAddress): Promise<string> {
    if (to.phone === null) {
      throw refused('unknown_contact', 'the contact has no address on this network');
    }
    const { book, socket, throttle } = this.#parts;
    throttle.check();
    const found = await socket.onWhatsApp(to.phone);
    // An answer that says nothing is none.
    if (found === undefined) throw new Error('the network did not say who has this number');
    const address = found.find(({ exists }) => exists === true)?.jid;
    if (address !== undefined) await book.keepAddress(to.phone, address);
    const destination = await book.destinationOf(to);
    if (destination !== null) return destination;
    throw refused('not_on_network', `${to.phone} is not on this network`);
  }

  #sent(reference: string, { attrs }: BinaryNode): Sent {
    if (attrs.error) {
      const { code, message } = ackRefusal(attrs.error);
      throw refused(code, message);
    }
    return { networkId: reference, at: attrs.t ? Number(attrs.t) * 1_000 : Date.now() };
  }
}
