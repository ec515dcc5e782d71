/**
 * What the nouns may ask of the storage plugin. The storage owns the transaction, the noun owns
 * the decision: a lane is a kind of decision that many callers ask for at once, and everything
 * that arrives while one transaction is under way is decided together in the next.
 */

/**
 * A row that a lane takes before anything else, so that nobody else decides about it meanwhile.
 * The storage sorts them (tenants by id, then leases by account id, then receivers), which rules out
 * deadlocks.
 */
export type Lock = `tenant:${string}` | `lease:${string}` | `receiver:${string}`;

/** What a transaction may bring that somebody in this process wants to know as soon as it is durable. */
export type CommitTopic = 'events' | 'deliveries';

/**
 * The nouns' SQL, one table object a table: `unit.messages`, `storage.read.accounts`, … Each plugin
 * adds its own here by augmentation, in its `tables/index.ts`.
 */
// biome-ignore lint/suspicious/noEmptyInterface: augmented beside the tables themselves
export interface Tables {}

/**
 * One open transaction, as a lane sees it. Its table objects work inside that transaction; statements that are asked for
 * at the same moment (`Promise.all`) travel to the server together.
 */
export interface Unit extends Tables {
  /** The database's clock in milliseconds since the Unix epoch, read after the locks were taken. */
  readonly now: number;
  /**
   * The same tables, to write only: what is written through them is kept and travels with COMMIT, in the order of the
   * calls, which saves a round trip each. For writes that nothing in the transaction reads any more; those whose outcome
   * matters, such as how many rows matched, throw.
   */
  readonly withCommit: Tables;
  /**
   * Runs once the transaction is durable, in the order given, and not at all when it rolled back.
   * Meant for signals that may be lost: a crash right after the commit skips them.
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
   * How many transactions of the lane may be under way in a process, on databases that allow several; 1 when absent.
   * They have no lock in common, and inputs that do are decided in the order of their arrival all the same.
   */
  readonly atOnce?: number;
  /**
   * A further transaction begins only once the last one under way is so old, in milliseconds: until then what comes is
   * gathered for the next, and one that is held up does not hold up the others. 0 when absent: at once.
   */
  readonly patienceMs?: number;
  /** The rows to lock for this input. Pure. */
  locks(input: Input): readonly Lock[];
  /**
   * Reads what can be asked for without knowing the clock: it travels to the server behind the locks, in one packet with
   * them. Called before they are taken; what it reads is read afterwards.
   */
  early?(tables: Tables, inputs: readonly Input[]): Promise<Early>;
  /**
   * Decides all inputs inside one transaction, in order of arrival, and answers as many outputs in
   * the same order. Refusals are values, never throws: a throw rolls the whole batch back, which is
   * then run again item by item, so that one bad input fails alone. It may run more than once for the
   * same input and keeps no state between runs; what was cached is checked again under the locks.
   */
  run(unit: Unit, inputs: readonly Input[], early: Early): Promise<readonly Output[]>;
  /**
   * After a COMMIT whose outcome is unknown (the connection was lost while it ran) the storage asks here, under the same
   * locks, whether this input's effects are there: the output if so, else undefined, and then `run` follows in the
   * same transaction. Absent: the input is simply run again, so `run` must then be idempotent.
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
   * Calls back after each commit of this process that put events into the outbox, or made deliveries due. Like
   * every signal after a commit it may be lost. For booting plugins.
   */
  onCommit(mark: CommitTopic, listener: () => void): void;
  /** The database's clock, milliseconds since the Unix epoch. */
  now(): Promise<number>;
  /** Resolves when the database answers, rejects when it does not within a second. For readiness. */
  ping(): Promise<void>;
  /**
   * Resolves when the database takes a write, rejects when it does not within a second. Writes at most once a second: who
   * asks meanwhile shares the answer. For readiness.
   */
  probe(): Promise<void>;
}
