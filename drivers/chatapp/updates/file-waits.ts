import { setTimeout as pause } from 'node:timers/promises';
import {
  DriverError,
  type DriverEvent,
  type MessageEvent,
  type Port,
} from '../../../core/contracts/driver.ts';
import type { NamedWaits } from '../named-waits.ts';
import type { Timing } from '../timing.ts';
import { download } from './inbound-media.ts';

/** Dependencies of the waits for files. */
export interface FileWaitsParts {
  readonly port: Pick<Port, 'emit'>;
  readonly waits: NamedWaits;
  readonly timing: Pick<Timing, 'fileWait'>;
  /** Aborted when the connection is over. */
  readonly signal: AbortSignal;
}

/**
 * Emits events; a message whose file the network asks to wait for comes again once that wait is over. It holds up its
 * contact alone, as a file that is slow to come; after `fileWait` it comes without its file.
 */
export class FileWaits {
  readonly #parts: FileWaitsParts;
  #pauses = new AbortController();

  constructor(parts: FileWaitsParts) {
    this.#parts = parts;
    parts.signal.addEventListener('abort', () => this.#pauses.abort(), { once: true });
  }

  /** As `Port.emit`. */
  emit(event: DriverEvent): Promise<void> {
    const hasFile = event.type === 'message' && event.media !== null;
    return hasFile ? this.#emitInTime(event) : this.#parts.port.emit(event);
  }

  async #emitInTime(event: MessageEvent): Promise<void> {
    const { port, waits, timing, signal } = this.#parts;
    const longestMs = timing.fileWait;
    let waitedMs = 0;
    // Given up meanwhile, it must not begin to wait: all that is under way has to settle.
    const { signal: givenUp } = this.#pauses;
    for (;;) {
      try {
        return await port.emit(event);
      } catch (error) {
        const leftMs = signal.aborted ? 0 : waits.leftMs(download);
        if (leftMs === 0) throw error;
        // What the account receives meanwhile fills the line behind it.
        if (waitedMs + leftMs > longestMs) return await port.emit(withoutFile(event));
        await pause(leftMs, undefined, { signal: givenUp });
        waitedMs += leftMs;
      }
    }
  }

  /** Messages that wait reject at once: they come again with others. */
  giveUp(): void {
    this.#pauses.abort();
    this.#pauses = new AbortController();
  }
}

/** The message as it is kept when its file would take too long. */
function withoutFile(event: MessageEvent): MessageEvent {
  const reason = 'the network asks to wait too long before it gives a file';
  const open = () =>
    Promise.reject(new DriverError('media_unavailable', reason, { certain: true }));
  return { ...event, media: event.media && { ...event.media, open } };
}
