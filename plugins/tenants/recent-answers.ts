import { LRUCache } from 'lru-cache';

/** How long and how much `RecentAnswers` remembers. */
export interface Remembering {
  /** Counted from the moment the question was asked, so that no answer is ever older. */
  readonly maxAgeMs: number;
  readonly maxEntries: number;
  /** Milliseconds that only grow. */
  monotonic(): number;
}

interface Entry<Answer> {
  readonly askedAt: number;
  readonly answer: Promise<Answer>;
}

/**
 * Answers to questions that are asked again and again. Those who ask the same while an answer is under way
 * share it. A failure is not remembered.
 */
export class RecentAnswers<Answer> {
  readonly #ask: (question: string) => Promise<Answer>;
  readonly #remembering: Remembering;
  // Read by `peek`, so that what was asked longest ago goes first, however often it is wanted.
  readonly #entries: LRUCache<string, Entry<Answer>>;

  constructor(ask: (question: string) => Promise<Answer>, remembering: Remembering) {
    this.#ask = ask;
    this.#remembering = remembering;
    // Each of size one: `max` would set room aside for the most entries at once.
    this.#entries = new LRUCache({ maxSize: remembering.maxEntries, sizeCalculation: () => 1 });
  }

  /** How many answers are remembered. */
  get size(): number {
    return this.#entries.size;
  }

  /** The answer, at most `maxAgeMs` old. @throws what `ask` throws */
  get(question: string): Promise<Answer> {
    const now = this.#remembering.monotonic();
    const known = this.#entries.peek(question);
    if (known !== undefined && now - known.askedAt < this.#remembering.maxAgeMs) {
      return known.answer;
    }
    const entry = { askedAt: now, answer: this.#ask(question) };
    this.#entries.set(question, entry);
    entry.answer.catch(() => this.#failed(question, entry));
    return entry.answer;
  }

  /** The next one who asks this gets a new answer. */
  forget(question: string): void {
    this.#entries.delete(question);
  }

  #failed(question: string, entry: Entry<Answer>): void {
    if (this.#entries.peek(question) === entry) this.#entries.delete(question);
  }
}
