import type { OutboundMedia } from '../../../core/contracts/driver.ts';
import { untilAborted } from '../../../core/waiting.ts';
import type { LentFile, MediaAhead } from '../contract.ts';
import { cutShort } from '../fetching/failure.ts';
import { AheadFile, type AheadFileParts } from './ahead-file.ts';

/** What one session's files are fetched with. */
export interface SessionAheadParts extends Omit<AheadFileParts, 'shelved' | 'onDrop'> {
  /** Files being fetched or waiting whose messages are not due yet, at most. */
  readonly most: number;
}

/** Fetches the media of one session's messages before they are sent. */
export class SessionAhead implements MediaAhead {
  readonly #parts: SessionAheadParts;
  readonly #signal: AbortSignal;
  /** Announced, not begun: in order. */
  readonly #waiting = new Map<string, OutboundMedia>();
  readonly #files = new Map<string, AheadFile>();
  readonly #shelved = new Set<AheadFile>();

  /** @param signal aborts with the session: nothing is fetched any more, every file is deleted */
  constructor(parts: SessionAheadParts, signal: AbortSignal) {
    this.#parts = parts;
    this.#signal = signal;
    signal.addEventListener('abort', () => this.#end(), { once: true });
  }

  begin(reference: string, media: OutboundMedia): void {
    if (this.#signal.aborted || this.#files.has(reference)) return;
    if (!this.#waiting.has(reference)) this.#waiting.set(reference, media);
    this.#fill();
  }

  isSettled(reference: string): boolean {
    return this.#files.get(reference)?.isSettled ?? false;
  }

  settled(reference: string, media: OutboundMedia): Promise<void> {
    if (this.#signal.aborted) return Promise.resolve();
    this.#waiting.delete(reference);
    const file = this.#files.get(reference) ?? this.#fetch(reference, media);
    file.makeDue();
    this.#fill();
    return file.settled;
  }

  async take(reference: string, signal: AbortSignal): Promise<LentFile | null> {
    const file = this.#files.get(reference);
    if (file === undefined) return null;
    await untilAborted(signal, file.settled).catch(() => {
      throw cutShort();
    });
    return file.isOver ? null : file.take();
  }

  forget(reference: string): void {
    this.#waiting.delete(reference);
    this.#files.get(reference)?.end();
    this.#files.delete(reference);
    this.#fill();
  }

  #fetch(reference: string, media: OutboundMedia): AheadFile {
    const onDrop = (): void => this.forget(reference);
    const file = new AheadFile(media, { ...this.#parts, shelved: this.#shelved, onDrop });
    this.#files.set(reference, file);
    return file;
  }

  /** Begins what was announced, as far as there is room. */
  #fill(): void {
    let ahead = 0;
    for (const { isDue } of this.#files.values()) ahead += isDue ? 0 : 1;
    for (const [reference, media] of this.#waiting) {
      if (ahead >= this.#parts.most || !this.#parts.shelf.hasRoom) return;
      this.#waiting.delete(reference);
      this.#fetch(reference, media);
      ahead += 1;
    }
  }

  #end(): void {
    this.#waiting.clear();
    for (const file of this.#files.values()) file.end();
    this.#files.clear();
  }
}
