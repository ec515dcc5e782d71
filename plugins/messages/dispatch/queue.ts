import { setImmediate as arrivals } from 'node:timers/promises';
import type { Storage } from '../../../core/contracts/storage.ts';
import type { GatewayLog } from '../../../core/log.ts';
import type { LiveSession } from '../../accounts/contract.ts';
import type { QueuePosition } from '../tables/message-rows.ts';
import { pauseAfter } from './attempt.ts';
import { Conversations } from './conversations.ts';
import type { InterruptibleSleep } from './interruptible-sleep.ts';

/** Positions read at once. */
const pageSize = 200;

/** Positions known at once; those behind them are read once nothing else can be sent. */
const usualCapacity = 10_000;

/** Factor of the capacity while only media waits: a text behind it may be ready. */
const waitingFactor = 10;

/** Dependencies of a queue. */
export interface QueueParts {
  readonly read: Pick<Storage['read'], 'queuedMessages' | 'contactAliases'>;
  /** Default: 10,000. */
  readonly capacity?: number;
  readonly log: GatewayLog;
}

/**
 * What one session knows of its account's queue: positions, without a gap up to `tail`. A position that is exactly the
 * next one is added as it comes; anything else makes the queue be read.
 */
export class DispatchQueue {
  readonly conversations: Conversations;
  readonly #session: LiveSession;
  readonly #parts: QueueParts;
  readonly #sleep: InterruptibleSleep;
  #tail: number | null = null;
  #unread = true;
  #maybeMerged = false;

  constructor(session: LiveSession, parts: QueueParts, sleep: InterruptibleSleep) {
    this.conversations = new Conversations(session.capabilities.window ?? 1);
    this.#session = session;
    this.#parts = parts;
    this.#sleep = sleep;
  }

  /** The sequence up to which the queue is known; null before a read has found something. */
  get tail(): number | null {
    return this.#tail;
  }

  /** There may be queued messages after `tail`. */
  get unread(): boolean {
    return this.#unread;
  }

  /** Conversations may have to become one before another message starts. */
  get maybeMerged(): boolean {
    return this.#maybeMerged;
  }

  /** Adds a position that follows `tail`; false when it does not, or was added before. */
  append(position: QueuePosition): boolean {
    const { sequence } = position;
    if (this.#tail !== null && sequence <= this.#tail) return false;
    if (sequence - 1 !== this.#tail || this.conversations.size >= this.#capacity) {
      this.#unread = true;
      return false;
    }
    this.#add(position);
    return true;
  }

  /**
   * The queue has to be read: messages may be waiting of which nobody has heard.
   * @param isSettled nothing is under way whose outcome is not stored: an empty queue is read from its start then
   */
  reread(isSettled: boolean): void {
    if (isSettled && this.conversations.size === 0) this.#tail = null;
    this.#unread = true;
  }

  /** Contacts may have been merged: what waits for them is to become one conversation. */
  merged(): void {
    this.#maybeMerged = this.conversations.size > 0;
  }

  /**
   * More conversations may start than are known. All that fills the queue may wait, and holds up nobody behind it: more is
   * read then, up to the bound of what memory is for.
   */
  get isShort(): boolean {
    const { turns, size } = this.conversations;
    const most = turns.hasText ? this.#capacity : waitingFactor * this.#capacity;
    return this.#unread && turns.isShort && size < most;
  }

  get #capacity(): number {
    return this.#parts.capacity ?? usualCapacity;
  }

  /**
   * Reads on while the queue is short, and which contacts were merged; tries again while the database is away.
   * @param maySend false ends it
   */
  async fill(maySend: () => boolean): Promise<void> {
    for (let tries = 1; (this.isShort || this.#maybeMerged) && maySend(); tries += 1) {
      const { isShort } = this;
      if (isShort) this.#unread = false;
      else this.#maybeMerged = false;
      try {
        await (isShort ? this.#readPage() : this.#mergeContacts());
        tries = 0;
        // Reads of SQLite give nobody else a turn.
        if (this.isShort) await arrivals();
      } catch (error) {
        if (isShort) this.#unread = true;
        else this.#maybeMerged = true;
        const { id: account } = this.#session.account;
        this.#parts.log.warn({ err: error, account }, 'the queue could not be read');
        await this.#sleep.sleep(pauseAfter(tries));
      }
    }
  }

  async #readPage(): Promise<void> {
    const { queuedMessages } = this.#parts.read;
    const { id: accountId } = this.#session.account;
    const page = await queuedMessages.queuedOf(accountId, this.#tail ?? 0, pageSize);
    for (const position of page) {
      // What was accepted meanwhile has come by itself.
      if (this.#tail === null || position.sequence > this.#tail) this.#add(position);
    }
    if (page.length === pageSize) this.#unread = true;
  }

  #add(position: QueuePosition): void {
    const { id, sequence, mediaUrl: url } = position;
    this.#tail = sequence;
    this.conversations.add(position);
    if (url !== null) this.#session.mediaAhead.begin(id, { url });
  }

  async #mergeContacts(): Promise<void> {
    const merged = await this.#parts.read.contactAliases.of(this.conversations.contactIds());
    for (const [from, into] of merged) this.conversations.merge(from, into);
  }
}
