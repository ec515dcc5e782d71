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

/** Contacts whose messages could not be asked for; each is asked for again after a pause. */
export class FailedLookUps {
  readonly #reads = new Map<number, Read>();
  /** When they are due, by `performance.now`. */
  #dueAt = 0;

  /** Milliseconds until they are due, 0 when they are; infinite when there are none. */
  get dueIn(): number {
    if (this.#reads.size === 0) return Number.POSITIVE_INFINITY;
    return Math.max(0, this.#dueAt - performance.now());
  }

  /** True during the pause after a failure. */
  get isWaiting(): boolean {
    return this.#reads.size > 0 && this.dueIn > 0;
  }

  /** Whether receipts would be lost if the process ended now. */
  get oweReceipts(): boolean {
    return this.all().some(({ isOwed }) => isOwed === true);
  }

  /** Adds a contact to the queue. */
  add(read: Read): void {
    const isOwed = read.isOwed === true || this.#reads.get(read.userId)?.isOwed === true;
    this.#reads.set(read.userId, { ...read, isOwed });
  }

  /** Adds a contact whose receipts the gateway refused. */
  refused(read: Read): void {
    // Not before the end of a wait that the network has named.
    this.#dueAt = Math.max(this.#dueAt, performance.now() + pauseMs);
    this.add({ ...read, isOwed: true });
  }

  /** Adds a contact after a failure; forgets the contact when the network's refusal is final. */
  failed(read: Read, error: unknown): void {
    const meaning = meaningOf(error);
    if (meaning !== null && meaning.kind !== 'wait' && meaning.kind !== 'internal') {
      this.settled(read.userId);
      return;
    }
    this.#dueAt = performance.now() + (meaning?.kind === 'wait' ? meaning.ms : pauseMs);
    this.add(read);
  }

  /** The look-up of this contact's chat is done, or given up. */
  settled(userId: number): void {
    this.#reads.delete(userId);
  }

  /** All of them: each stays until it is settled. */
  all(): readonly Read[] {
    return [...this.#reads.values()];
  }
}
