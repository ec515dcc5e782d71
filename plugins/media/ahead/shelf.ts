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
  readonly #onRemoved: () => void;
  readonly #files = new Set<ShelvedFile>();
  #bytes = 0;

  /** @param onRemoved called when there may be room again */
  constructor(maxBytes: number, onRemoved: () => void) {
    this.#maxBytes = maxBytes;
    this.#onRemoved = onRemoved;
  }

  /** Whether another file may be begun. Half of the bound is for those that are being fetched by then. */
  get hasRoom(): boolean {
    return this.#bytes < this.#maxBytes / 2;
  }

  /**
   * Puts a file on the shelf. Above the bound those that came last are dropped, never this one: the first go out next.
   */
  add(file: ShelvedFile): void {
    this.#files.add(file);
    this.#bytes += file.size;
    if (this.#bytes <= this.#maxBytes) return;
    const others = [...this.#files].filter((one) => one !== file);
    while (this.#bytes > this.#maxBytes) {
      const last = others.pop();
      if (last === undefined) return;
      last.drop();
    }
  }

  /** Takes a file off the shelf, if it is there. */
  remove(file: ShelvedFile): void {
    if (!this.#files.delete(file)) return;
    this.#bytes -= file.size;
    this.#onRemoved();
  }
}
