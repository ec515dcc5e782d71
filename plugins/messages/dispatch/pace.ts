/** The shortest and the longest pause between two messages of one account, milliseconds; both 0: none. */
export interface PaceSettings {
  readonly minMs: number;
  readonly maxMs: number;
}

/** No pauses. */
export const unpaced: PaceSettings = { minMs: 0, maxMs: 0 };

/** One pause, drawn evenly from the shortest to the longest. Pure. @param random from 0 up to 1 */
export function pauseOf({ minMs, maxMs }: PaceSettings, random: number): number {
  return minMs + random * (maxMs - minMs);
}

/** Paces what one account hands to its network: one message, then a pause. Begins with a pause: another process may have sent. */
export class Pace {
  readonly #settings: PaceSettings;
  readonly #onEnd: () => void;
  #isTaken = false;
  #timer: NodeJS.Timeout | null = null;

  /** @param onEnd called when a pause is over */
  constructor(settings: PaceSettings, onEnd: () => void) {
    this.#settings = settings;
    this.#onEnd = onEnd;
    this.handed();
  }

  get isOn(): boolean {
    return this.#settings.maxMs > 0;
  }

  /** Nothing may be handed over. */
  get isWaiting(): boolean {
    return this.#isTaken || this.#timer !== null;
  }

  /** A message is about to be handed over, or not to be after all: until then no other is. */
  take(isTaken: boolean): void {
    this.#isTaken = this.isOn && isTaken;
  }

  /** A message is handed over: the pause begins. */
  handed(): void {
    if (!this.isOn) return;
    this.end();
    this.#timer = setTimeout(
      () => {
        this.#timer = null;
        this.#onEnd();
      },
      pauseOf(this.#settings, Math.random()),
    );
  }

  /** Ends what is waited for, without a word. */
  end(): void {
    this.#isTaken = false;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }
}
