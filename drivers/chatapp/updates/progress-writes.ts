import type { Port } from '../../../core/contracts/driver.ts';
import type { Progress } from '../progress.ts';
import { loggableError } from '../rpc-errors.ts';
import type { CredentialBuffer } from '../storage/credential-buffer.ts';
import { PacedWrites } from '../storage/paced-writes.ts';
import type { Timing } from '../timing.ts';
import type { ReadMarks } from './read-marks.ts';

/** Dependencies of `ProgressWrites`. */
export interface ProgressWritesParts {
  readonly port: Port;
  readonly buffer: CredentialBuffer;
  readonly progress: Progress;
  readonly marks: Pick<ReadMarks, 'oweReceipts'>;
  readonly timing: Timing;
  readonly accountId: string;
  /** Aborted when the connection is over. */
  readonly signal: AbortSignal;
}

/** Writes to the credentials, at a pace: the position in the updates, and the people that updates have named. */
export class ProgressWrites {
  readonly #parts: ProgressWritesParts;
  readonly #writes: PacedWrites;
  /** For updates without events. */
  readonly #eventlessWrites: PacedWrites;

  constructor(parts: ProgressWritesParts) {
    this.#parts = parts;
    const { timing, signal } = parts;
    this.#writes = new PacedWrites(() => this.#write(), timing.progress, signal);
    this.#eventlessWrites = new PacedWrites(
      () => this.#writePosition(),
      timing.eventlessProgress,
      signal,
    );
  }

  /** Stores new people soon, also those without an event: an erasure finds people by what is stored. */
  changes(): void {
    if (this.#parts.buffer.hasChanges) this.#writes.request();
  }

  /** Stores the position soon. */
  position(): void {
    this.#parts.progress.note();
    this.#writes.request();
  }

  /** Stores the position later, unless receipts of earlier updates are not durable then. */
  eventlessPosition(): void {
    this.#eventlessWrites.request();
  }

  async #writePosition(): Promise<void> {
    const { marks, progress } = this.#parts;
    if (marks.oweReceipts) return;
    progress.note();
    await this.#write();
  }

  /** Stores what was noted. A stored position that is behind only repeats updates. */
  async #write(): Promise<void> {
    const { port, buffer, accountId } = this.#parts;
    await buffer.write().catch((error: unknown) => {
      const context = { accountId, error: loggableError(error) };
      port.log.debug(context, 'how far updates were taken is not stored');
    });
  }
}
