import { SerialQueue } from '../../core/serial.ts';
import { atMost } from '../../core/waiting.ts';

/** How long an answer is kept, in milliseconds: at least `keptMs`, and `keptTimes` as long as its read took. */
const keptMs = 5_000;
const keptTimes = 20;

/** How long a scrape waits for the database, milliseconds. */
const patienceMs = 2_000;

/** One read of the database and its last answer. */
interface Reading {
  read(): Promise<unknown>;
  answer: unknown;
  goodUntil: number;
  underWay: Promise<void> | null;
}

/**
 * What scrapes read from the database: one read at a time, and none while the last answer is good, however often and
 * by however many Prometheus servers the process is scraped.
 */
export class DatabaseGauges {
  readonly #readings: Reading[] = [];
  readonly #turns = new SerialQueue();
  readonly #failed: (error: unknown) => void;

  /** @param failed called with the error of each read that fails */
  constructor(failed: (error: unknown) => void) {
    this.#failed = failed;
  }

  /** Adds a read; answers how its latest answer is found, null where there is none or it failed. */
  add<Answer>(read: () => Promise<Answer>): () => Answer | null {
    const reading: Reading = { read, answer: null, goodUntil: 0, underWay: null };
    this.#readings.push(reading);
    // `refresh` stores what this `read` answered.
    return () => reading.answer as Answer | null;
  }

  /** Reads what is not good any more; resolves after `patienceMs` at the latest. */
  async refresh(): Promise<void> {
    const now = performance.now();
    const old = this.#readings.filter((reading) => now >= reading.goodUntil);
    await atMost(patienceMs, Promise.all(old.map((reading) => this.#read(reading))));
  }

  #read(reading: Reading): Promise<void> {
    reading.underWay ??= this.#turns
      .run(async () => {
        const begunAt = performance.now();
        let times = keptTimes;
        reading.answer = await reading.read().catch((error: unknown) => {
          this.#failed(error);
          times = 0;
          return null;
        });
        const now = performance.now();
        reading.goodUntil = now + Math.max(keptMs, times * (now - begunAt));
      })
      .finally(() => {
        reading.underWay = null;
      });
    return reading.underWay;
  }
}
