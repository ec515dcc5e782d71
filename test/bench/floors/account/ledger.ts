import { setImmediate as immediate } from 'node:timers/promises';
import type { Row } from '../../../../core/contracts/sql.ts';
import { createLog } from '../../../../core/log.ts';
import { connect } from '../../../../plugins/storage/connection.ts';
import { Executor } from '../../../../plugins/storage/executor.ts';

const tables = {
  floor_intents: 'id varchar(100) primary key, contact varchar(100), body text, created_at bigint',
  floor_outcomes: 'id varchar(100) primary key, network_id varchar(100), created_at bigint',
  floor_received: 'id varchar(100) primary key, contact varchar(100), body text, created_at bigint',
  floor_posts: 'id varchar(100) primary key, status bigint, created_at bigint',
  floor_keys: 'name varchar(100) primary key, value mediumtext',
} as const;

type Inserted = Exclude<keyof typeof tables, 'floor_keys'>;

/** What goes into one transaction. */
class Batch {
  readonly inserts = new Map<Inserted, Row[]>();
  /** The last value of each key. */
  readonly keys = new Map<string, string | null>();
}

/** The durable rows of a floor, with group commit: what is added while a transaction is under way shares the next one. */
export class Ledger {
  readonly #pools: ReturnType<typeof connect>;
  #batch: Batch | null = null;
  #isNext = false;
  #last: Promise<void> = Promise.resolve();

  private constructor(pools: ReturnType<typeof connect>) {
    this.#pools = pools;
  }

  /** Makes the tables in an empty database. */
  static async open(url: string): Promise<Ledger> {
    const pools = connect(url, createLog('silent'));
    for (const [name, columns] of Object.entries(tables)) {
      await pools.write.raw(`create table ${name} (${columns})`);
    }
    return new Ledger(pools);
  }

  insert(table: Inserted, row: Row): void {
    this.#batch ??= new Batch();
    const rows = this.#batch.inserts.get(table);
    if (rows === undefined) this.#batch.inserts.set(table, [row]);
    else rows.push(row);
  }

  /** @param value null: deleted */
  key(name: string, value: string | null): void {
    this.#batch ??= new Batch();
    this.#batch.keys.set(name, value);
  }

  /** Resolves once all that was added so far is durable. */
  durable(): Promise<void> {
    if (this.#batch !== null && !this.#isNext) {
      this.#isNext = true;
      this.#last = this.#last.then(() => this.#commit());
    }
    return this.#last;
  }

  async #commit(): Promise<void> {
    // What the same turn of the loop adds goes with it.
    await immediate();
    const { inserts, keys } = this.#batch ?? new Batch();
    this.#batch = null;
    this.#isNext = false;
    await this.#pools.write.transaction(async (transaction) => {
      const write = new Executor(transaction, this.#pools.dialect);
      for (const [table, rows] of inserts) await write.insert(table, rows);
      const rows = [...keys].map(([name, value]) => ({ name, value }));
      if (rows.length > 0)
        await write.upsert('floor_keys', rows, { key: ['name'], set: ['value'] });
    });
  }
}
