import type { OutboundMedia } from '../../../core/contracts/driver.ts';
import { untilAborted } from '../../../core/waiting.ts';
import type { LentFile, MediaAhead } from '../contract.ts';
import { cutShort } from '../fetching/failure.ts';
import { serverOf } from '../fetching/slots.ts';
import { AheadFile, type AheadFileParts } from './ahead-file.ts';
import { DueFiles } from './due-files.ts';

/** Dependencies of the fetching ahead of one session's files. */
export interface SessionAheadParts extends Omit<AheadFileParts, 'shelved' | 'onDrop'> {
  /** Files being fetched or waiting whose messages are not due yet, at most. */
  readonly most: number;
  /** Files of one server being fetched whose messages are due, at most. */
  readonly mostDue: number;
}

/** Fetches the media of one session's messages before they are sent. */
export class SessionAhead implements MediaAhead {
  readonly #parts: SessionAheadParts;
  readonly #signal: AbortSignal;
  /** Announced, not begun: in order. */
  readonly #waiting = new Map<string, OutboundMedia>();
  readonly #files = new Map<string, AheadFile>();
  /** References of those files whose messages are not due yet. */
  readonly #early = new Set<string>();
  readonly #due: DueFiles;
  readonly #shelved = new Set<AheadFile>();

  /** @param signal aborts with the session: nothing is fetched any more, every file is deleted */
  constructor(parts: SessionAheadParts, signal: AbortSignal) {
    this.#parts = parts;
    this.#due = new DueFiles(parts.mostDue);
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
    const server = serverOf(media.url);
    const begin = () => this.#makeDue(server, reference, media);
    if (this.#files.has(reference) || this.#due.hasRoom(server)) return begin();
    return this.#due.await(server, reference, begin);
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
    this.#early.delete(reference);
    this.#due.forget(reference);
    this.#fill();
  }

  #makeDue(server: string, reference: string, media: OutboundMedia): Promise<void> {
    const file = this.#files.get(reference) ?? this.#fetch(reference, media);
    this.#early.delete(reference);
    file.makeDue();
    const settled = this.#due.follow(server, file.settled);
    this.#fill();
    return settled;
  }

  #fetch(reference: string, media: OutboundMedia): AheadFile {
    const onDrop = (): void => this.forget(reference);
    const file = new AheadFile(reference, media, {
      ...this.#parts,
      shelved: this.#shelved,
      onDrop,
    });
    this.#files.set(reference, file);
    return file;
  }

  /** Begins what was announced, as far as there is room. What its server has no room for is fetched once it is due. */
  #fill(): void {
    if (!this.#hasRoom) return;
    for (const [reference, media] of this.#waiting) {
      this.#waiting.delete(reference);
      if (!this.#due.hasRoom(serverOf(media.url))) continue;
      this.#early.add(reference);
      this.#fetch(reference, media);
      if (!this.#hasRoom) return;
    }
  }

  get #hasRoom(): boolean {
    return this.#early.size < this.#parts.most && this.#parts.shelf.hasRoom;
  }

  #end(): void {
    this.#waiting.clear();
    this.#due.end();
    for (const file of this.#files.values()) file.end();
    this.#files.clear();
    this.#early.clear();
  }
}
