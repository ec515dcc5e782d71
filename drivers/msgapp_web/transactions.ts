import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SignalDataSet, SignalDataTypeMap, SignalKeyStoreWithTransaction } from 'baileys';
import type { AccountKeys } from './account-keys.ts';

/** A transaction under way: what it has read and written, as the library names it. */
interface Transaction {
  readonly owner: Transactions;
  /** The transaction of another owner in which this one began. */
  readonly outer: Transaction | null;
  readonly seen: Map<string, unknown>;
  /** By type and id. */
  written: Record<string, Record<string, unknown>>;
  over: boolean;
}

/**
 * The transaction in which something runs. One storage for all sockets: on Node 20 and 22 each storage that was ever
 * used makes every promise of the process slower for good, and the library would make one for each socket.
 */
const running = new AsyncLocalStorage<Transaction>();

/** Pause before the only other try to write a transaction, in milliseconds. */
const retryMs = 200;

/**
 * An account's keys with transactions, in place of the library's own `addTransactionCapability`: reads see what the
 * transaction wrote, its changes are written together when it ends or not at all, and those of one name run one after
 * the other. What still runs when its transaction has ended writes at once, where the library's would forget it.
 */
export class Transactions implements SignalKeyStoreWithTransaction {
  readonly #keys: AccountKeys;
  /** The last transaction of each name. */
  readonly #turns = new Map<string, Promise<void>>();

  constructor(keys: AccountKeys) {
    this.#keys = keys;
  }

  // Arrow functions, since the library takes them off the object.
  readonly get = async <Type extends keyof SignalDataTypeMap>(
    type: Type,
    ids: string[],
  ): Promise<{ [id: string]: SignalDataTypeMap[Type] }> => {
    const current = this.#current();
    if (current === null) return await this.#keys.get(type, ids);
    const missing = ids.filter((id) => !current.seen.has(`${type}:${id}`));
    if (missing.length > 0) {
      const read = await this.#keys.get(type, missing);
      for (const id of missing) {
        // A change that came while the store was asked is newer than its answer.
        const name = `${type}:${id}`;
        if (!current.seen.has(name)) current.seen.set(name, read[id] ?? null);
      }
    }
    const found = ids.flatMap((id) => {
      const value = current.seen.get(`${type}:${id}`) ?? null;
      return value === null ? [] : [[id, value] as const];
    });
    // What `set` and the store gave under a type is of that type.
    return Object.fromEntries(found) as { [id: string]: SignalDataTypeMap[Type] };
  };

  readonly set = async (data: SignalDataSet): Promise<void> => {
    const current = this.#current();
    if (current === null) return await this.#keys.set(data);
    for (const [type, entries] of Object.entries(data)) {
      for (const [id, value] of Object.entries(entries ?? {})) {
        current.seen.set(`${type}:${id}`, value);
        current.written[type] ??= {};
        current.written[type][id] = value;
      }
    }
  };

  readonly isInTransaction = (): boolean => this.#current() !== null;

  readonly transaction = async <Result>(
    work: () => Promise<Result>,
    name: string,
  ): Promise<Result> => {
    if (this.#current() !== null) return await work();
    const before = this.#turns.get(name) ?? Promise.resolve();
    const result = before.then(() => this.#run(work));
    const turn = result.then(
      () => undefined,
      () => undefined,
    );
    this.#turns.set(name, turn);
    try {
      return await result;
    } finally {
      if (this.#turns.get(name) === turn) this.#turns.delete(name);
    }
  };

  async #run<Result>(work: () => Promise<Result>): Promise<Result> {
    const own: Transaction = {
      owner: this,
      outer: stillRunning(running.getStore() ?? null),
      seen: new Map(),
      written: {},
      over: false,
    };
    try {
      const result = await running.run(own, work);
      // At once before the commit: a change in between would be overwritten by an older one.
      own.over = true;
      await this.#commit(own);
      return result;
    } finally {
      own.over = true;
      // Timers that were started within hold on to it for long.
      own.seen.clear();
      own.written = {};
    }
  }

  async #commit({ written }: Transaction): Promise<void> {
    if (Object.keys(written).length === 0) return;
    // What `set` was given under a type is of that type.
    const write = () => this.#keys.set(written as SignalDataSet);
    await write().catch(async () => {
      await sleep(retryMs);
      await write();
    });
  }

  #current(): Transaction | null {
    let current = stillRunning(running.getStore() ?? null);
    while (current !== null && current.owner !== this) current = stillRunning(current.outer);
    return current;
  }
}

/** This transaction, or the nearest around it that has not ended. */
function stillRunning(transaction: Transaction | null): Transaction | null {
  let current = transaction;
  while (current?.over) current = current.outer;
  return current;
}
