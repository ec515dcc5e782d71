/**
 * Contract of the storage plugin. The storage owns the transaction, the noun owns the decision. A lane is one kind of
 * decision with group commit: inputs that arrive during a transaction are decided together in the next.
 */

/**
 * Row lock, held until the transaction ends. The storage takes the locks of a batch in one global order (tenants by id,
 * leases by account id, receivers by id, jobs by name, then rows of plugins from outside by table and key), which rules
 * out deadlocks.
 */
export type Lock =
  | `tenant:${string}`
  | `lease:${string}`
  | `receiver:${string}`
  | `job:${string}`
  | `x_${string}:${string}`;

/**
 * Longer than any transaction is open, milliseconds: lock waits and idle transactions end sooner. A row may become visible
 * so long after its time.
 */
export const longestTransactionMs = 10_000;

/** Name of a kind of commits, see `CommitTopic`. */
export type CommitTopicName = 'events' | 'raised' | 'merged';

/**
 * Topic of a commit: a name, with a subject behind a colon where there is one (`raised:ten_…`). Listeners in this process
 * are notified once a transaction with the topic is durable.
 */
export type CommitTopic = CommitTopicName | `${CommitTopicName}:${string}`;

/**
 * Table objects of all nouns: `unit.messages`, `storage.read.accounts`, … A plugin adds its own by augmentation, in its
 * `tables/index.ts`.
 */
// biome-ignore lint/suspicious/noEmptyInterface: augmented beside the tables themselves
export interface Tables {}

/**
 * Open transaction of a lane: its table objects run their statements in it. Statements that are issued together
 * (`Promise.all`) travel in one packet.
 */
export interface Unit extends Tables {
  /** Time of the database in milliseconds since the Unix epoch, read after the locks were taken. */
  readonly now: number;
  /**
   * Tables for deferred writes: their statements are sent with COMMIT, in the order of the calls, to save round trips.
   * For rows that the transaction does not read again; methods that answer a count throw.
   */
  readonly withCommit: Tables;
  /**
   * Registers a signal that runs once the transaction is durable, in order of registration; never after a rollback.
   * Signals may be lost: a crash right after COMMIT skips them.
   */
  afterCommit(signal: () => void): void;
}

/**
 * Kind of decision, declared once per process and run by `Storage.submit`.
 * @typeParam Prefetched result of `prefetch`
 */
export interface Lane<Input, Output, Prefetched = void> {
  /** For logs and metrics; unique. */
  readonly name: string;
  /** Maximum inputs of one transaction; 256 when absent. */
  readonly maxBatch?: number;
  /**
   * Maximum concurrent transactions of the lane in one process, on databases that allow several; 1 when absent.
   * Concurrent transactions share no lock: inputs with a common lock are decided in order of arrival.
   */
  readonly maxConcurrent?: number;
  /**
   * Minimum interval between the starts of two concurrent transactions, in milliseconds; 0 when absent. Inputs are
   * gathered in this interval, and after it a stuck transaction no longer blocks the next.
   */
  readonly minIntervalMs?: number;
  /** Rows to lock for an input. Pure. */
  locks(input: Input): readonly Lock[];
  /** First reads, sent in one packet with the locks and run after them. `Unit.now` is not known yet. */
  prefetch?(tables: Tables, inputs: readonly Input[]): Promise<Prefetched>;
  /**
   * Decides a batch in one transaction: one output for each input, both in order of arrival. A refusal is an output.
   * A throw rolls the batch back, and each input runs again alone, so that only a bad input fails. May run more than
   * once for one input: keep no state between runs, and re-validate anything cached while holding the locks.
   * @param isRepeat whether an earlier COMMIT may have stored effects of these inputs that `recover` does not look for
   */
  run(
    unit: Unit,
    inputs: readonly Input[],
    prefetched: Prefetched,
    isRepeat: boolean,
  ): Promise<readonly Output[]>;
  /**
   * Recovers an input after a COMMIT of unknown outcome, under the same locks. Answers the output when the effects of
   * the input are stored, else undefined; `run` then follows in the same transaction. Without `recover`, `run` is
   * repeated and must be idempotent.
   */
  recover?(unit: Unit, input: Input): Promise<Output | undefined>;
}

/** The storage, `storage` in the container. */
export interface Storage {
  /**
   * Tables outside a transaction: they read the last commit. For answers, never to decide a write.
   */
  readonly read: Tables;
  /**
   * Submits an input to a lane; resolves to its output once that is durable.
   * @throws GatewayError `unavailable` when the database cannot be reached. Nothing was stored then, unless the
   *   connection broke during COMMIT and `Lane.recover` could not run.
   */
  submit<Input, Output, Prefetched>(
    lane: Lane<Input, Output, Prefetched>,
    input: Input,
  ): Promise<Output>;
  /**
   * Subscribes to commits of this process with a topic: events in the outbox, events that a tenant was raised (the
   * subject), or contacts that have become one. A notification may be lost, like every signal after a commit. For booting
   * plugins.
   */
  onCommit(topic: CommitTopicName, listener: (subject: string) => void): void;
  /** Time of the database, milliseconds since the Unix epoch. */
  now(): Promise<number>;
  /**
   * Leaves nothing in the files of an embedded database of what was deleted: the log is copied into the file and emptied.
   * On a server it does nothing.
   * @throws GatewayError `unavailable` while another process, such as a backup, still reads the log
   */
  scrub(): Promise<void>;
  /** Reads as a readiness check: rejects when the database does not answer within a second. */
  ping(): Promise<void>;
  /**
   * Writes as a readiness check: rejects when the database takes no write within a second. Writes at most once a
   * second; callers share the result.
   */
  probe(): Promise<void>;
}

declare module '../container.ts' {
  interface Cradle {
    /** The database: lanes that write, tables that read. Ready once the `storage` plugin booted. */
    readonly storage: Storage;
  }
}
