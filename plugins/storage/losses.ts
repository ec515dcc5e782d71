/** A COMMIT whose outcome is open: what its transaction ran, and what is told if it took place. */
interface Loss<Input> {
  readonly ran: ReadonlySet<Input>;
  readonly signal: () => void;
}

/** The COMMITs of a batch whose outcome is open, in order. Made for each batch; what is looked up stays in it. */
export class Losses<Input> {
  readonly #all: Loss<Input>[] = [];

  /** How many there are; 0: nothing has to be looked up. */
  get count(): number {
    return this.#all.length;
  }

  add(ran: readonly Input[], signal: () => void): void {
    this.#all.push({ ran: new Set(ran), signal });
  }

  /**
   * What is to be told of the inputs whose effects are there: for each the signal of the last COMMIT that ran it, as it is
   * that one which took place where it was run again, and no other signal.
   */
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
