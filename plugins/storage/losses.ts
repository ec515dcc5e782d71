/** A COMMIT of unknown outcome: its inputs, and the signal to run if it took place. */
interface Loss<Input> {
  readonly ran: ReadonlySet<Input>;
  readonly signal: () => void;
}

/** The COMMITs of one batch whose outcome is unknown, in order. */
export class Losses<Input> {
  /** The inputs that the transaction under way runs. */
  running: readonly Input[] = [];
  readonly #all: Loss<Input>[] = [];

  /** How many COMMITs there are to look up. */
  get count(): number {
    return this.#all.length;
  }

  /** The outcome of the transaction under way is unknown. */
  add(signal: () => void): void {
    this.#all.push({ ran: new Set(this.running), signal });
  }

  /** After-commit signals for inputs found committed: for each, those of the last attempt that ran it. */
  signalsOf(found: readonly Input[]): readonly (() => void)[] {
    let rest = found;
    const signals: (() => void)[] = [];
    for (const { ran, signal } of this.#all.toReversed()) {
      if (rest.some((input) => ran.has(input))) signals.push(signal);
      rest = rest.filter((input) => !ran.has(input));
    }
    return signals.reverse();
  }
}
