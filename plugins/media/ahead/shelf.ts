/** A file that waits for its turn. */
export interface ShelvedFile {
  /** In bytes. */
  readonly size: number;
  /** Deletes it, and takes it off the shelf. */
  drop(): void;
}

/** The files of all sessions of this process that wait for their turn, bounded in bytes. */
export class Shelf {
  readonly #maxBytes: number;
  readonly #files = new Set<ShelvedFile>();
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Whether a file may be fetched that nobody waits for yet. */
  get hasRoom(): boolean {
    return this.#bytes < this.#maxBytes;
  }

  /** Puts a file on the shelf. Above the bound those that have waited longest are dropped, never this one. */
  add(file: ShelvedFile): void {
    this.#files.add(file);
    this.#bytes += file.size;
    for (const other of this.#files) {
      if (this.#bytes <= this.#maxBytes) return;
      if (other !== file) other.drop();
    }
  }

  /** Takes a file off the shelf, if it is there. */
  remove(file: ShelvedFile): void {
    if (this.#files.delete(file)) this.#bytes -= file.size;
  }
}
