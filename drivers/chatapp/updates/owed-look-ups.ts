import { meaningOf } from '../rpc-errors.ts';

/** Pause before chats are looked up again after the network did not answer, in milliseconds. */
const pauseMs = 5_000;

/** A contact has read everything up to a message. */
export interface Read {
  readonly userId: number;
  readonly upTo: number;
  /** Milliseconds since the Unix epoch. */
  readonly at: number;
}

/** Chats that the network would not show for now, to be looked up later; one for each contact. */
export class OwedLookUps {
  readonly #reads = new Map<number, Read>();
  /** When they are due, by `performance.now`. */
  #dueAt = 0;

  /** Milliseconds until they are due, 0 when they are; null: there are none. */
  get dueIn(): number | null {
    if (this.#reads.size === 0) return null;
    return Math.max(0, this.#dueAt - performance.now());
  }

  /** Notes a look-up for later. */
  add(read: Read): void {
    this.#reads.set(read.userId, read);
  }

  /** Notes a look-up that failed, unless it is refused for good. */
  failed(read: Read, error: unknown): void {
    const meaning = meaningOf(error);
    if (meaning !== null && meaning.kind !== 'wait' && meaning.kind !== 'internal') {
      this.settled(read.userId);
      return;
    }
    this.#dueAt = performance.now() + (meaning?.kind === 'wait' ? meaning.ms : pauseMs);
    this.add(read);
  }

  /** Nothing more is owed for this contact. */
  settled(userId: number): void {
    this.#reads.delete(userId);
  }

  /** All of them: each stays until it is settled. */
  all(): readonly Read[] {
    return [...this.#reads.values()];
  }
}
