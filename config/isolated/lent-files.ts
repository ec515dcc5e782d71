import type { MediaFile } from '../../core/contracts/driver.ts';
import type { ThreadCalls } from './calls.ts';

/** A file that is lent to the thread; `lent` opens its bytes. */
export interface ThreadFile extends Omit<MediaFile, 'stream'> {
  readonly lent: string;
}

/**
 * The files that are lent to one session of a driver in a thread. A signal crosses only while its call runs: the thread
 * notifies later that it has aborted.
 */
export class LentFiles {
  readonly #calls: ThreadCalls;
  /** One for each file that is being fetched or is lent: its abort has the gateway delete it. */
  readonly #lives = new Set<AbortController>();
  /** Those of lent files, by the names of their targets. */
  readonly #lent = new Map<string, AbortController>();

  constructor(calls: ThreadCalls) {
    this.#calls = calls;
  }

  /**
   * Lends the file that is fetched until it is released or withdrawn.
   * @param fetch its signal aborts when the file is released
   * @param signal of the call alone
   * @throws whatever `fetch` throws
   */
  async lend(
    fetch: (signal: AbortSignal) => Promise<MediaFile>,
    signal: AbortSignal,
  ): Promise<ThreadFile> {
    const life = new AbortController();
    signal.addEventListener('abort', () => life.abort(), { once: true });
    if (signal.aborted) life.abort();
    this.#lives.add(life);
    try {
      const file = await fetch(life.signal);
      const { kind, mimeType, fileName, size } = file;
      const lent = this.#calls.lend(() => file.stream());
      this.#lent.set(lent, life);
      if (life.signal.aborted) this.withdraw(lent);
      return { kind, mimeType, fileName, size, lent };
    } catch (error) {
      this.#lives.delete(life);
      throw error;
    }
  }

  /** The driver's signal has aborted: the gateway deletes the file. */
  release(lent: string): void {
    this.#lent.get(lent)?.abort();
    this.withdraw(lent);
  }

  /** The sends of the file have settled: the gateway deletes it, or keeps it for another try. */
  withdraw(lent: string): void {
    this.#calls.withdraw(lent);
    const life = this.#lent.get(lent);
    this.#lent.delete(lent);
    if (life !== undefined) this.#lives.delete(life);
  }

  /** Releases all files, those too that are being fetched. */
  end(): void {
    for (const life of this.#lives) life.abort();
    for (const lent of [...this.#lent.keys()]) this.withdraw(lent);
  }
}
