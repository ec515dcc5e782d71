import type { GatewayLog } from '../../core/log.ts';

/** The two lines of a condition that lasts. */
export interface ConditionTexts {
  readonly begins: string;
  readonly ends: string;
}

/**
 * A lasting condition, such as a database that is away, with two lines in the log. One says that it begins; the other
 * says that it has ended, how long it took and how often it was met.
 */
export class LastingCondition {
  readonly #log: GatewayLog;
  readonly #texts: ConditionTexts;
  #since = 0;
  #met = 0;

  constructor(log: GatewayLog, texts: ConditionTexts) {
    this.#log = log;
    this.#texts = texts;
  }

  /** Begins it with what shows it; does nothing while it lasts. */
  begin(error: unknown): void {
    if (this.#since > 0) return;
    this.#since = performance.now();
    this.#log.warn({ err: error }, this.#texts.begins);
  }

  /** Counts one who was turned away by it. */
  meet(): void {
    this.#met += 1;
  }

  /** Ends it; does nothing unless it lasts. */
  end(): void {
    if (this.#since === 0) return;
    const seconds = Math.round((performance.now() - this.#since) / 100) / 10;
    this.#log.warn({ seconds, refused: this.#met }, this.#texts.ends);
    this.#since = 0;
    this.#met = 0;
  }
}
