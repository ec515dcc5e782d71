import { reasonOf } from '../../core/error-code.ts';
import type { GatewayLog } from '../../core/log.ts';

/** The lines of a condition that lasts. */
export interface ConditionTexts {
  readonly begins: string;
  readonly goesOn: string;
  readonly ends: string;
}

/**
 * A lasting condition, such as a database that is away, with two lines in the log. One says that it begins; the other
 * says that it has ended, how long it took and how often it was met. Each change of its reason is one line more.
 */
export class LastingCondition {
  readonly #log: GatewayLog;
  readonly #texts: ConditionTexts;
  #since = 0;
  #met = 0;
  #reason = '';

  constructor(log: GatewayLog, texts: ConditionTexts) {
    this.#log = log;
    this.#texts = texts;
  }

  /** Begins it with what shows it; does nothing while it lasts. */
  begin(error: unknown): void {
    if (this.#since > 0) return;
    this.#since = performance.now();
    this.#reason = reasonOf(error);
    this.#log.warn({ err: error }, this.#texts.begins);
  }

  /** Says why it still lasts, where that differs from the last reason in the log; does nothing unless it lasts. */
  goOn(error: unknown): void {
    const reason = reasonOf(error);
    if (this.#since === 0 || reason === this.#reason) return;
    this.#reason = reason;
    this.#log.warn({ err: error }, this.#texts.goesOn);
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
