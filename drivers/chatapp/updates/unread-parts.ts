/** How many parts of a file may be unread: asked for, or in memory. The library asks for six of them side by side. */
const most = 8;

/** Holds a download back while its parts are not read: the library asks for all of a file whoever reads it. */
export class UnreadParts {
  #unread = 0;
  /** The parts that are held back, in their order. */
  readonly #held: (() => void)[] = [];

  /** Resolves once the next part may be asked for. The library calls it for each part, in their order. */
  async room(): Promise<void> {
    if (this.#unread < most) this.#unread += 1;
    else await new Promise<void>((resolve) => this.#held.push(resolve));
  }

  /** Passes the parts on, and takes note of those that are read. */
  async *counted(parts: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, void> {
    for await (const part of parts) {
      yield part;
      const next = this.#held.shift();
      if (next === undefined) this.#unread -= 1;
      else next();
    }
  }
}
