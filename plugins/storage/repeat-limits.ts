/** How often a batch is repeated after each kind of failure. */
const repeats = {
  /** The look-up of a COMMIT whose answer was lost. */
  lookup: 3,
  /** The connection was lost. */
  connection: 1,
  /** A deadlock, or a lock time-out. */
  contention: 3,
};

/** The failures of one batch, by kind. */
export class RepeatLimits {
  private lookup = 0;
  private connection = 0;
  private contention = 0;

  /** Counts a failure; answers whether the batch is to be given up. */
  count(kind: keyof typeof repeats): boolean {
    this[kind] += 1;
    return this[kind] > repeats[kind];
  }

  /** Another COMMIT is to be looked up: failures to look up the one before do not count any more. */
  resetLookups(): void {
    this.lookup = 0;
  }

  /** A pause before the batch is repeated, milliseconds: random, and longer after several failures. */
  pauseMs(): number {
    return Math.random() * 20 * (this.contention + this.connection + 1);
  }
}
