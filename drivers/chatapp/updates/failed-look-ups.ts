import { meaningOf } from '../rpc-errors.ts';

/** How long to wait after the network gave no answer, or the gateway kept no receipt, in milliseconds. */
export const pauseMs = 5_000;

/** A contact has read everything up to a message. */
export interface Read {
  readonly userId: number;
  readonly upTo: number;
  /** Milliseconds since the Unix epoch. */
  readonly at: number;
  /** The gateway has not taken its receipts yet. */
  readonly isOwed?: boolean;
}

/**
 * Queue of contacts whose messages could not be asked for, or whose receipts the gateway refused; each is tried again after
 * a pause. During a wait that the network has named no messages are asked for; refused receipts are emitted again.
 */
export class FailedLookUps {
  readonly #reads = new Map<number, Read>();
  /** Ids of contacts in the queue whose receipts were refused and not emitted again. */
  readonly #refused = new Set<number>();
  /** From when on messages may be asked for again, by `performance.now`. */
  #lookUpsDueAt = 0;
  /** From when on refused receipts are emitted again, by `performance.now`. */
  #refusedDueAt = 0;

  /** Milliseconds until a contact in the queue is due, 0 for now; infinite when the queue is empty. */
  get dueIn(): number {
    if (this.#reads.size === 0) return Number.POSITIVE_INFINITY;
    return this.#refused.size === 0
      ? this.#lookUpsDueIn
      : Math.min(this.#lookUpsDueIn, Math.max(0, this.#refusedDueAt - performance.now()));
  }

  get #lookUpsDueIn(): number {
    return Math.max(0, this.#lookUpsDueAt - performance.now());
  }

  /** Whether messages must not be asked for yet. */
  get isWaiting(): boolean {
    return this.#reads.size > 0 && this.#lookUpsDueIn > 0;
  }

  /** Whether receipts would be lost if the process ended now. */
  get oweReceipts(): boolean {
    return [...this.#reads.values()].some(({ isOwed }) => isOwed === true);
  }

  /** Adds a contact to the queue; a later read that is there covers this one, and stays. */
  add(read: Read): void {
    const queued = this.#reads.get(read.userId);
    const isOwed = read.isOwed === true || queued?.isOwed === true;
    const latest = queued === undefined || this.isLatest(read) ? read : queued;
    this.#reads.set(read.userId, { ...latest, isOwed });
  }

  /** Whether no later read of this contact is in the queue. */
  isLatest({ userId, upTo }: Read): boolean {
    return upTo >= (this.#reads.get(userId)?.upTo ?? 0);
  }

  /** Adds a contact whose receipts the gateway refused. */
  refused(read: Read): void {
    this.#refusedDueAt = performance.now() + pauseMs;
    // Not before the end of a wait that the network has named.
    this.#lookUpsDueAt = Math.max(this.#lookUpsDueAt, this.#refusedDueAt);
    this.#refused.add(read.userId);
    this.add({ ...read, isOwed: true });
  }

  /** Adds a contact after a failure; forgets the contact when the network's refusal is final. */
  failed(read: Read, error: unknown): void {
    const meaning = meaningOf(error);
    if (meaning !== null && meaning.kind !== 'wait' && meaning.kind !== 'internal') {
      this.settled(read.userId);
      return;
    }
    this.#lookUpsDueAt = performance.now() + (meaning?.kind === 'wait' ? meaning.ms : pauseMs);
    this.add(read);
  }

  /** Receipts of this contact are emitted again, as far as they are known; those of a later read are not. */
  emitted(read: Read): void {
    if (this.isLatest(read)) this.#refused.delete(read.userId);
  }

  /** The look-up of this contact's chat is done, or given up. */
  settled(userId: number): void {
    this.#reads.delete(userId);
    this.#refused.delete(userId);
  }

  /** Reads that are due; each stays in the queue until `settled`. */
  due(): readonly Read[] {
    if (this.dueIn > 0) return [];
    const all = [...this.#reads.values()];
    return this.isWaiting ? all.filter(({ userId }) => this.#refused.has(userId)) : all;
  }
}
