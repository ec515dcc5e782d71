import type { Release } from '../../core/contracts/broker.ts';

/** What is subscribed with a broker: released by whoever subscribed, and else as the broker closes. */
export class Releases {
  readonly #open = new Set<Release>();

  /** Makes a release that takes effect once, however often it is called. */
  add(release: Release): Release {
    const once: Release = async () => {
      if (this.#open.delete(once)) await release();
    };
    this.#open.add(once);
    return once;
  }

  /** Releases what is open. */
  async all(): Promise<void> {
    await Promise.all([...this.#open].map((release) => release()));
  }
}
