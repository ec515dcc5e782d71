/**
 * The contract of the storage plugin. The storage owns the transaction, the noun owns the decision: a lane is a kind of
 * decision, and inputs that arrive during one transaction are decided together in the next.
 */

/**
 * A row lock that a lane takes first, so that nobody else decides about the row meanwhile. The storage sorts them
 * (tenants by id, then leases by account id, then receivers), which rules out deadlocks.
 */
export type Lock = `tenant:${string}` | `lease:${string}` | `receiver:${string}`;

/** A topic of commits: listeners in this process are notified once such a transaction is durable. */
export type CommitTopic = 'events' | 'deliveries';

/**
 * The table objects of all nouns: `unit.messages`, `storage.read.accounts`, … Each plugin adds its own by augmentation,
 * in its `tables/index.ts`.
 */
// biome-ignore lint/suspicious/noEmptyInterface: augmented beside the tables themselves
export interface Tables {}

/**
 * One open transaction of a lane. Its table objects work inside it; statements of the same moment (`Promise.all`)
 * travel to the server together.
 */
export interface Unit extends Tables {
  /** The database's clock in milliseconds since the Unix epoch, read after the locks were taken. */
  readonly now: number;
  /**
   * The same tables, write-only: their statements are deferred to COMMIT, in the order of the calls, which saves round
   * trips. For writes that nothing in the transaction reads; methods that answer a count throw.
   */
  readonly withCommit: Tables;
  /**
   * Runs once the transaction is durable, in the order given; after a rollback not at all. For signals that may be
   * lost: a crash right after the commit skips them.
   */
  afterCommit(signal: () => void): void;
}

/**
 * A kind of decision, declared once; `Storage.submit` brings it the inputs.
 * @typeParam Early what `early` has read
 */
export interface Lane<Input, Output, Early = void> {
  /** For logs and metrics; unique. */
  readonly name: string;
  /** The most inputs one transaction takes; 256 when absent. */
  readonly maxBatch?: number;
  /**
   * The most transactions of the lane at once in a process, on databases that allow several; 1 when absent. They share
   * no lock: inputs that do are decided in the order of their arrival.
   */
  readonly atOnce?: number;
  /**
   * Least age of the last running transaction before a further one begins, milliseconds; 0 when absent. Inputs are
   * gathered meanwhile, and a stuck transaction does not block the next.
   */
  readonly patienceMs?: number;
  /** The rows to lock for this input. Pure. */
  locks(input: Input): readonly Lock[];
  /** First reads, in one packet with the locks: they run after the locks, but are asked before the clock is known. */
  early?(tables: Tables, inputs: readonly Input[]): Promise<Early>;
  /**
   * Decides all inputs inside one transaction, in order of arrival, and answers as many outputs in the same order.
   * Refusals are values: a throw rolls the batch back, and each input runs alone, so that a bad one fails alone. May
   * run more than once for one input. Keep no state between runs; re-validate anything cached while holding the locks.
   */
  run(unit: Unit, inputs: readonly Input[], early: Early): Promise<readonly Output[]>;
  /**
   * Called after a COMMIT of unknown outcome, under the same locks: answers the output when the effects of this input
   * are there, else undefined, and `run` follows in the same transaction. Absent: `run` is repeated, so it must be
   * idempotent.
   */
  recover?(unit: Unit, input: Input): Promise<Output | undefined>;
}

/** The storage as the container hands it out under the name `storage`. */
export interface Storage {
  /** `mysql` or `sqlite`: for the few places where an operator needs to know. */
  readonly dialect: 'mysql' | 'sqlite';
  /**
   * Reads outside a transaction, at the state of the last commit. Use for answers, never to decide
   * a write.
   */
  readonly read: Tables;
  /**
   * Hands one input to a lane and answers its output once that is durable.
   * @throws GatewayError `unavailable` when the database cannot be reached; nothing was stored then,
   *   unless the connection broke during COMMIT and the lane could not find out.
   */
  submit<Input, Output, Early>(lane: Lane<Input, Output, Early>, input: Input): Promise<Output>;
  /**
   * Calls back after each commit of this process that has the topic: events in the outbox, or deliveries that are due.
   * May be lost, like every signal after a commit. For booting plugins.
   */
  onCommit(topic: CommitTopic, listener: () => void): void;
  /** The database's clock, milliseconds since the Unix epoch. */
  now(): Promise<number>;
  /** Resolves when the database answers, rejects when it does not within a second. For readiness. */
  ping(): Promise<void>;
  /**
   * Resolves when the database takes a write, rejects when it does not within a second. Writes at most once a second,
   * and callers share the answer. For readiness.
   */
  probe(): Promise<void>;
}
