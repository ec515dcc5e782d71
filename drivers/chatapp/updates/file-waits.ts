import { setTimeout as pause } from 'node:timers/promises';
import type { DriverEvent, Port } from '../../../core/contracts/driver.ts';
import type { NamedWaits } from '../named-waits.ts';
import { download } from './inbound-media.ts';

/** Dependencies of the waits for files. */
export interface FileWaitsParts {
  readonly port: Pick<Port, 'emit'>;
  readonly waits: NamedWaits;
  /** Aborted when the connection is over. */
  readonly signal: AbortSignal;
}

/**
 * Emits events; a message whose file the network asks to wait for comes again once that wait is over. It holds up its
 * contact alone, as a file that is slow to come.
 */
export class FileWaits {
  readonly #parts: FileWaitsParts;
  #pauses = new AbortController();

  constructor(parts: FileWaitsParts) {
    this.#parts = parts;
    parts.signal.addEventListener('abort', () => this.#pauses.abort(), { once: true });
  }

  /** As `Port.emit`. */
  async emit(event: DriverEvent): Promise<void> {
    const { port, waits, signal } = this.#parts;
    const hasFile = event.type === 'message' && event.media !== null;
    for (;;) {
      try {
        return await port.emit(event);
      } catch (error) {
        const leftMs = hasFile && !signal.aborted ? waits.leftMs(download) : 0;
        if (leftMs === 0) throw error;
        await pause(leftMs, undefined, { signal: this.#pauses.signal });
      }
    }
  }

  /** Messages that wait reject at once: they come again with others. */
  giveUp(): void {
    this.#pauses.abort();
    this.#pauses = new AbortController();
  }
}
