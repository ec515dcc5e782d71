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

/** Listener to the pauses of one account. */
export interface PaceListener {
  /** A pause is over. */
  over(): void;
  /** A message to this contact waits for a pause; called once for each message. */
  waits(contactId: string): void;
}

/** Paces what one account hands to its network: one message, then a pause. Begins with a pause: another process may have sent. */
export class Pace {
  readonly #settings: PaceSettings;
  readonly #listener: PaceListener;
  /** The message of which the listener heard last. */
  #waiting: string | null = null;
  #isTaken = false;
  #timer: NodeJS.Timeout | null = null;

  constructor(settings: PaceSettings, listener: PaceListener) {
    this.#settings = settings;
    this.#listener = listener;
    this.handed();
  }

  /** How many messages may be handed over with no pause between. */
  get atOnce(): number {
    return this.#isOn ? 1 : Number.POSITIVE_INFINITY;
  }

  /** Nothing may be handed over. */
  get isWaiting(): boolean {
    return this.#isTaken || this.#timer !== null;
  }

  /** Says that the next message waits, where it does. */
  announce(next: { readonly id: string; readonly contactId: string } | null): void {
    if (!this.isWaiting || next === null || next.id === this.#waiting) return;
    this.#waiting = next.id;
    this.#listener.waits(next.contactId);
  }

  /** A message is about to be handed over, or not to be after all: until then no other is. */
  take(isTaken: boolean): void {
    this.#isTaken = this.#isOn && isTaken;
  }

  /** A message is handed over: the pause begins. */
  handed(): void {
    if (!this.#isOn) return;
    this.end();
    this.#timer = setTimeout(
      () => {
        this.#timer = null;
        this.#listener.over();
      },
      pauseOf(this.#settings, Math.random()),
    );
  }

  /** Cancels the pause; the listener is not called. */
  end(): void {
    this.#isTaken = false;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  get #isOn(): boolean {
    return this.#settings.maxMs > 0;
  }
}
