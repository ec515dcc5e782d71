import type { Knex } from 'knex';
import { placeholders, type Sql, SqlTable, type Value } from '../../../core/contracts/sql.ts';
import type { LeaseClaim, LeasedRow, LeasedTable, LeaseRows, LeaseToken } from '../contract.ts';
import type { LeaseHolderTable } from './lease-holders.ts';

interface StoredLease {
  readonly id: string;
  readonly owner: string | null;
  readonly fence: number;
  readonly [column: string]: Value;
}

/** The one algorithm of leases, on the rows of any table. */
export class LeasesOfTable extends SqlTable implements LeaseRows {
  readonly #holders: LeaseHolderTable;
  readonly #leased: LeasedTable;
  readonly #wanted: Readonly<Record<string, number>>;
  /** A query of whole leases. */
  readonly #select: string;

  constructor(db: Sql, holders: LeaseHolderTable, leased: LeasedTable) {
    super(db);
    const { table, key, wanted = {} } = leased;
    this.#holders = holders;
    this.#leased = leased;
    this.#wanted = wanted;
    const columns = [`${key} as id`, 'owner', 'fence', ...Object.keys(wanted)];
    this.#select = `select ${columns.join(', ')} from ${table}`;
  }

  async find(ids: readonly string[]): Promise<readonly LeasedRow[]> {
    const wanted = [...new Set(ids)];
    if (wanted.length === 0) return [];
    const rows = await this.db.rows<StoredLease>(
      `${this.#select} where ${this.#leased.key} in (${placeholders(wanted.length)})`,
      wanted,
      { recurs: wanted.length === 1 },
    );
    return rows.map((row) => this.#read(row));
  }

  async heldBy(leases: readonly LeaseToken[]): Promise<ReadonlySet<LeaseToken>> {
    return current(leases, await this.find(leases.map(({ id }) => id)));
  }

  async lockFree(leases: readonly LeaseToken[]): Promise<ReadonlySet<LeaseToken>> {
    if (leases.length === 0) return new Set();
    const { key } = this.#leased;
    // By the primary key: a scan of the table would wait for rows that others have locked.
    const index = this.db.dialect === 'mysql' ? 'force index (primary)' : '';
    const rows = await this.db.rows<StoredLease>(
      `${this.#select} ${index} where ${key} in (${placeholders(leases.length)})
       order by ${key} ${this.db.lockingFree}`,
      leases.map(({ id }) => id),
    );
    const found = rows.map((row) => this.#read(row));
    return current(leases, found);
  }

  async ownedBy(owner: string): Promise<readonly LeaseToken[]> {
    const { table, key } = this.#leased;
    // Read for each renewal: every column takes time with a thousand rows.
    const rows: Pick<StoredLease, 'id' | 'fence'>[] = await this.db
      .knex(table)
      .select({ id: key }, 'fence')
      .where({ owner, ...this.#wanted });
    return rows.map(({ id, fence }) => ({ id, owner, number: fence }));
  }

  async hasFree(owner: string, now: number): Promise<boolean> {
    if ((await this.#claimable(null, now).first('owner')) !== undefined) return true;
    const dead = (await this.#holders.dead()).filter((id) => id !== owner);
    if (dead.length === 0) return false;
    return (await this.#claimable(dead, now).first('owner')) !== undefined;
  }

  async claim(claim: LeaseClaim): Promise<readonly LeaseToken[]> {
    const { owner, now, leaseMs, limit, except = [] } = claim;
    const dead = (await this.#holders.lockDead()).filter((id) => id !== owner);
    const free = await this.#lock(this.#claimable(null, now), limit, except);
    const left = limit - free.length;
    const ids =
      left === 0 || dead.length === 0
        ? free
        : [...free, ...(await this.#lock(this.#claimable(dead, now), left, except))];
    await this.take(ids, owner, now + leaseMs, leaseMs);
    await this.#holders.forget(dead);
    const taken = await this.find(ids);
    return taken.map(({ id, fence }) => ({ id, owner, number: fence }));
  }

  async take(
    ids: readonly string[],
    owner: string,
    expiresAt: number,
    leaseMs: number,
  ): Promise<void> {
    if (ids.length === 0) return;
    const fence = this.db.knex.raw('fence + 1');
    await this.#of(ids).update({ ...this.#wanted, owner, fence });
    await this.#holders.renew(owner, expiresAt, leaseMs);
  }

  async release(
    leases: readonly LeaseToken[],
    values: Readonly<Record<string, number>> = {},
  ): Promise<void> {
    const ids = [...(await this.heldBy(leases))].map(({ id }) => id);
    if (ids.length > 0) await this.#of(ids).update({ ...values, owner: null });
  }

  #of(ids: readonly string[]): Knex.QueryBuilder {
    return this.db.knex(this.#leased.table).whereIn(this.#leased.key, ids);
  }

  /** Rows that may be claimed, without an owner or of these owners. */
  #claimable(owners: readonly string[] | null, now: number): Knex.QueryBuilder {
    const { table, due } = this.#leased;
    const query = this.db.knex(table).where(this.#wanted);
    if (due !== undefined) query.where(due, '<=', now);
    return owners === null ? query.whereNull('owner') : query.whereIn('owner', owners);
  }

  async #lock(
    query: Knex.QueryBuilder,
    limit: number,
    except: readonly string[],
  ): Promise<readonly string[]> {
    // Unordered: a sort would lock every free row, not only those that are taken.
    query.limit(limit + except.length);
    if (this.db.dialect === 'mysql') query.forUpdate().skipLocked();
    const found: readonly string[] = await query.pluck(this.#leased.key);
    if (except.length === 0) return found;
    const excepted = new Set(except);
    return found.filter((id) => !excepted.has(id)).slice(0, limit);
  }

  #read(row: StoredLease): LeasedRow {
    const { id, owner } = row;
    const wanted = Object.entries(this.#wanted).every(([column, value]) => row[column] === value);
    return { id, wanted, owner, fence: row.fence };
  }
}

/** Tokens, not ids: one batch may hold an old and a new lease of the same row. */
function current(
  leases: readonly LeaseToken[],
  rows: readonly LeasedRow[],
): ReadonlySet<LeaseToken> {
  const found = new Map(rows.map((row) => [row.id, row]));
  const kept = leases.filter(({ id, owner, number }) => {
    const row = found.get(id);
    return row?.owner === owner && row.fence === number;
  });
  return new Set(kept);
}
