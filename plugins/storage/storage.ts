import type {
  CommitTopic,
  CommitTopicName,
  Lane,
  Storage,
  Tables,
} from '../../core/contracts/storage.ts';
import type { GatewayLog } from '../../core/log.ts';
import { withTimeout } from '../../core/waiting.ts';
import { type Access, connect, type DatabasePools } from './connection.ts';
import type { StorageContents } from './contents.ts';
import { Executor } from './executor.ts';
import { unavailable } from './faults.ts';
import { Lanes } from './lanes.ts';
import { type LaneMeter, noMeter } from './metrics.ts';
import { read, steadied } from './reading.ts';
import { emptySqliteLog, shrinkSqlite } from './sqlite-transaction.ts';
import { mysqlClock } from './unit.ts';

/** How long `ping` and `probe` wait. */
const pingMs = 1_000;

/** How many pages of SQLite are given back in one go: a few milliseconds, in which nothing else is written. */
const shrinkPages = 256;

/** The free part of the file up to which it is not shrunk: free pages are used again. */
const freePart = 1 / 8;

/** Options of a storage. */
export interface StorageOptions {
  /** `mysql://user:password@host:port/database` or `sqlite:PATH`. */
  readonly url: string;
  /** Certificates in PEM of whoever signs the database server's. */
  readonly ca?: string | undefined;
  readonly log: GatewayLog;
  readonly contents: StorageContents;
  /** Makes no file of an embedded database, and leaves the modes of those that are there. Default: false. */
  readonly examines?: boolean;
  /** Nothing is measured when absent. */
  readonly meter?: LaneMeter;
}

/** A storage together with what only its owner may do. */
export interface OpenStorage extends Storage {
  readonly dialect: DatabasePools['dialect'];
  /** For migrations and tests. */
  readonly connections: DatabasePools;
  /** Whether reads or writes may pass, as far as is known: the database is not known to be away. */
  accepts(access: Access): boolean;
  /**
   * Makes the file of an embedded database smaller where clean-ups left a good part of it free.
   * @param signal ends it early: what is free then stays for the next time
   */
  shrink(signal?: AbortSignal): Promise<void>;
  /** Refuses further inputs, waits until those that were taken are decided, and closes all connections. */
  close(): Promise<void>;
}

/**
 * Opens a database without a gateway around it: for the storage plugin, the command line and tests.
 * Does not migrate. The caller closes it.
 * @throws Error when the address cannot be understood
 */
export function makeStorage({ url, ca, examines, ...options }: StorageOptions): OpenStorage {
  return new KnexStorage(connect(url, options.log, ca, examines), options);
}

class KnexStorage implements OpenStorage {
  readonly connections: DatabasePools;
  readonly read: Tables;
  readonly #reader: Executor;
  readonly #lanes: Lanes;
  readonly #listeners: {
    readonly topic: CommitTopicName;
    readonly listener: (subject: string) => void;
  }[] = [];
  #closing: Promise<void> | undefined;

  constructor(
    connections: DatabasePools,
    { log, contents, meter = noMeter }: Omit<StorageOptions, 'url' | 'ca' | 'examines'>,
  ) {
    this.connections = connections;
    this.#reader = new Executor(connections.read, connections.dialect);
    this.#lanes = new Lanes({
      connections,
      contents,
      log,
      meter,
      committed: (topic) => this.#notify(topic),
    });
    this.read = steadied(contents.tables(this.#reader), this.#lanes.breaker);
  }

  get dialect() {
    return this.connections.dialect;
  }

  submit<Input, Output, Prefetched>(
    lane: Lane<Input, Output, Prefetched>,
    input: Input,
  ): Promise<Output> {
    return this.#lanes.submit(lane, input);
  }

  onCommit(topic: CommitTopicName, listener: (subject: string) => void): void {
    this.#listeners.push({ topic, listener });
  }

  async now(): Promise<number> {
    if (this.dialect === 'sqlite') return Date.now();
    return read(() => mysqlClock(this.#reader), this.#lanes.breaker);
  }

  async ping(): Promise<void> {
    const refusal = this.#lanes.breaker.refusal('read');
    if (refusal !== null) throw refusal;
    await inTime(this.#reader.rows('select 1'));
  }

  async probe(): Promise<void> {
    const { breaker } = this.#lanes;
    // While the circuit is open it probes by itself.
    const refusal = breaker.refusal('write');
    if (refusal !== null) throw refusal;
    await inTime(breaker.probe());
  }

  accepts(access: Access): boolean {
    return this.#lanes.breaker.allows(access);
  }

  async scrub(): Promise<void> {
    if (this.dialect === 'mysql') return;
    if ((await this.#emptyLog()) !== false) return;
    throw unavailable(new Error('another process reads what the log of the database holds'));
  }

  async shrink(signal?: AbortSignal): Promise<void> {
    const [row] = await this.#reader.rows<{ pages: number; free: number }>(
      `select page_count as pages, freelist_count as free
       from pragma_page_count(), pragma_freelist_count()`,
    );
    const { pages = 0, free = 0 } = row ?? {};
    if (free < shrinkPages || free < pages * freePart) return;
    const { write } = this.connections;
    for (let left = free; left > 0; left -= shrinkPages) {
      // libsql is synchronous: without a round of the event loop nothing else happens until the last piece.
      await new Promise(setImmediate);
      if (signal?.aborted === true) return;
      await this.#lanes.between(() => shrinkSqlite(write, shrinkPages));
    }
    await this.#emptyLog();
  }

  #emptyLog(): Promise<boolean | undefined> {
    return this.#lanes.between(() => emptySqliteLog(this.connections.write));
  }

  #notify(topic: CommitTopic): void {
    const [name, subject = ''] = topic.split(':', 2);
    for (const known of this.#listeners) if (known.topic === name) known.listener(subject);
  }

  close(): Promise<void> {
    this.#closing ??= this.#lanes.close().then(() => this.connections.close());
    return this.#closing;
  }
}

/** @throws Error when the answer takes too long */
function inTime(answer: Promise<unknown>): Promise<unknown> {
  const late = new Error('the database did not answer within a second');
  return withTimeout(pingMs, late, answer);
}
