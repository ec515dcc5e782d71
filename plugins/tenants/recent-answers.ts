import { LRUCache } from 'lru-cache';

/** How long and how much `RecentAnswers` remembers. */
export interface Remembering {
  /** Counted from the moment the question was asked, so that no answer is ever older. */
  readonly maxAgeMs: number;
  /** The most right answers, and as many others. */
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
 * share it. A failure is not remembered. Answers of null or false, and those under way, drive out no other answer.
 */
export class RecentAnswers<Answer> {
  readonly #ask: (question: string) => Promise<Answer>;
  readonly #remembering: Remembering;
  // Read by `peek`, so that what was asked longest ago goes first, however often it is wanted.
  readonly #right: LRUCache<string, Entry<Answer>>;
  readonly #others: LRUCache<string, Entry<Answer>>;

  constructor(ask: (question: string) => Promise<Answer>, remembering: Remembering) {
    this.#ask = ask;
    this.#remembering = remembering;
    // Each of size one: `max` would set room aside for the most entries at once.
    const options = { maxSize: remembering.maxEntries, sizeCalculation: () => 1 };
    this.#right = new LRUCache(options);
    this.#others = new LRUCache(options);
  }

  /** How many answers are remembered. */
  get size(): number {
    return this.#right.size + this.#others.size;
  }

  /** The answer, at most `maxAgeMs` old. @throws what `ask` throws */
  get(question: string): Promise<Answer> {
    const now = this.#remembering.monotonic();
    const known =
      this.#recent(this.#right.peek(question), now) ??
      this.#recent(this.#others.peek(question), now);
    if (known !== null) return known.answer;
    const entry = { askedAt: now, answer: this.#ask(question) };
    this.#others.set(question, entry);
    entry.answer.then(
      (answer) => this.#answered(question, entry, answer),
      () => this.#failed(question, entry),
    );
    return entry.answer;
  }

  /** The next one who asks this gets a new answer. */
  forget(question: string): void {
    this.#right.delete(question);
    this.#others.delete(question);
  }

  #recent(entry: Entry<Answer> | undefined, now: number): Entry<Answer> | null {
    if (entry === undefined) return null;
    return now - entry.askedAt < this.#remembering.maxAgeMs ? entry : null;
  }

  #answered(question: string, entry: Entry<Answer>, answer: Answer): void {
    // A newer question, or one that was forgotten meanwhile, stays as it is.
    if (this.#others.peek(question) !== entry) return;
    this.#right.delete(question);
    if (answer === null || answer === false) return;
    this.#others.delete(question);
    this.#right.set(question, entry);
  }

  #failed(question: string, entry: Entry<Answer>): void {
    if (this.#others.peek(question) === entry) this.#others.delete(question);
  }
}
