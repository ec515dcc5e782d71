import type { DriverError, OutboundMedia } from '../../../core/contracts/driver.ts';
import type { LentFile } from '../contract.ts';
import type { MediaMetrics } from '../metrics.ts';
import type { Shelf } from './shelf.ts';

/** Dependencies of one file fetched ahead. */
export interface AheadFileParts {
  /**
   * Fetches it; no try begins before `mayBegin`.
   * @throws DriverError once it has failed for good
   */
  fetch(
    media: OutboundMedia,
    signal: AbortSignal,
    mayBegin: () => boolean,
    reference: string,
  ): Promise<LentFile>;
  readonly shelf: Shelf;
  readonly metrics: Pick<MediaMetrics, 'ahead'>;
  /** How long it may wait for its turn, milliseconds. */
  readonly keepMs: number;
  /** Those files of its session that are on the shelf. */
  readonly shelved: Set<AheadFile>;
  /** Called when a fetch that has waited may begin. */
  admit(): void;
  /** Called when it has waited too long, or room was needed. */
  onDrop(): void;
}

/** One file from the start of its fetch to its deletion. A failure is kept like a file, until it is asked for. */
export class AheadFile {
  /** Resolves once the file is there, has failed for good or was deleted. Never rejects. */
  readonly settled: Promise<void>;
  readonly #parts: AheadFileParts;
  readonly #over = new AbortController();
  #isDue = false;
  #lent: LentFile | null = null;
  #failure: DriverError | null = null;
  #timer: NodeJS.Timeout | undefined;
  #readers = 0;
  #wasTaken = false;

  constructor(reference: string, media: OutboundMedia, parts: AheadFileParts) {
    this.#parts = parts;
    this.settled = this.#fetch(reference, media);
  }

  /** Its message is the next of its conversation. */
  get isDue(): boolean {
    return this.#isDue;
  }

  get size(): number {
    return this.#lent?.file.size ?? 0;
  }

  /** It is there, or has failed for good. */
  get isSettled(): boolean {
    return !this.isOver && (this.#lent !== null || this.#failure !== null);
  }

  get isOver(): boolean {
    return this.#over.signal.aborted;
  }

  /** Makes it the file of a message that is the next of its conversation. */
  makeDue(): void {
    this.#isDue = true;
    if (!this.isSettled) this.#parts.admit();
  }

  /** Lends the settled file; `release` lets it wait for another try. @throws DriverError why it was not fetched */
  take(): LentFile {
    if (this.#failure !== null) throw this.#failure;
    if (this.#lent === null) throw new Error('the file is not there yet');
    this.#leaveShelf();
    this.#readers += 1;
    this.#wasTaken = true;
    this.#parts.metrics.ahead('taken');
    let isReleased = false;
    const release = (): void => {
      if (isReleased) return;
      isReleased = true;
      this.#readers -= 1;
      if (this.#readers === 0) this.#wait();
    };
    return { file: this.#lent.file, release };
  }

  /** Ends the fetch or deletes the file. Idempotent. */
  end(): void {
    if (this.isOver) return;
    this.#leaveShelf();
    if (this.#lent !== null && !this.#wasTaken) this.#parts.metrics.ahead('dropped');
    this.#over.abort();
  }

  /** See `ShelvedFile`. */
  drop(): void {
    this.end();
    this.#parts.onDrop();
  }

  async #fetch(reference: string, media: OutboundMedia): Promise<void> {
    const { fetch, metrics } = this.#parts;
    const { signal } = this.#over;
    try {
      this.#lent = await fetch(media, signal, () => this.#mayBegin(), reference);
      if (!this.isOver) metrics.ahead('fetched');
    } catch (error) {
      // `fetch` throws nothing else.
      this.#failure = error as DriverError;
      if (!this.isOver) metrics.ahead('failed');
    }
    this.#wait();
  }

  /** There is room, or its session has nothing there that could be sent. */
  #mayBegin(): boolean {
    const { shelf, shelved } = this.#parts;
    if (shelf.hasRoom) return true;
    if (!this.#isDue) return false;
    for (const { isDue } of shelved) if (isDue) return false;
    return true;
  }

  #wait(): void {
    if (this.isOver) return;
    const { keepMs, shelf, shelved } = this.#parts;
    this.#timer = setTimeout(() => this.drop(), keepMs).unref();
    if (this.#lent === null) return;
    shelved.add(this);
    shelf.add(this);
  }

  #leaveShelf(): void {
    const { shelf, shelved } = this.#parts;
    clearTimeout(this.#timer);
    shelved.delete(this);
    shelf.remove(this);
  }
}
