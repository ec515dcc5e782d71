import { clockNow } from '../bench/clock.ts';

/** A message of a measured account, as it came to the network. */
export interface MeasuredSend {
  readonly to: string;
  readonly text: string;
  /** By `clockNow`. */
  readonly at: number;
}

/** How the network treats the sends of a measured account. */
export interface Measuring {
  /** How long an answer takes, milliseconds; 0: at once. */
  readonly answerAfterMs: number;
  /** Nothing is answered before `release`: all that is sent meanwhile waits at the sender. */
  readonly held: boolean;
}

/** What a contact writes. */
export interface ContactWrites {
  readonly from: string;
  readonly name: string;
  readonly text: string;
}

/** The network's side of a measured account, named by its number. Both networks offer it. */
export interface MeasuringControl {
  measure(phone: string, measuring: Measuring): Promise<void>;
  release(phone: string): Promise<number>;
  measuredCount(phone: string): Promise<number>;
  measuredSends(phone: string): Promise<readonly MeasuredSend[]>;
  writeAtOnce(phone: string, written: readonly ContactWrites[]): Promise<number>;
}

/** The sends of one account for a bench: when each came, and when it is answered. Read later, so that it costs nothing. */
export class MeasuredSends {
  #measuring: Measuring = { answerAfterMs: 0, held: false };
  readonly #held: (() => void)[] = [];
  #came: { to: string; at: number; read: () => string | Promise<string> }[] = [];

  set(measuring: Measuring): void {
    this.#measuring = measuring;
  }

  /** Answers what was held, and the rest as it comes; the time by `clockNow`. */
  release(): number {
    this.#measuring = { ...this.#measuring, held: false };
    const at = clockNow();
    for (const answer of this.#held.splice(0)) this.#later(answer);
    return at;
  }

  /** A message came. @param read answers its text; called in the order of these calls */
  came(to: string, read: () => string | Promise<string>, answer: () => void): void {
    this.#came.push({ to, at: clockNow(), read });
    if (this.#measuring.held) this.#held.push(answer);
    else this.#later(answer);
  }

  /** How many came since the last `take`. */
  get count(): number {
    return this.#came.length;
  }

  /** What came since the last call, in order. */
  async take(): Promise<readonly MeasuredSend[]> {
    const taken: MeasuredSend[] = [];
    for (const { to, at, read } of this.#came.splice(0)) taken.push({ to, at, text: await read() });
    return taken;
  }

  #later(answer: () => void): void {
    const { answerAfterMs } = this.#measuring;
    if (answerAfterMs === 0) answer();
    else setTimeout(answer, answerAfterMs);
  }
}
