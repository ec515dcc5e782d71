import { placeholders, type Sql } from '../../../core/contracts/sql.ts';
import type { LeasedTable, LeaseRows } from '../../cluster/contract.ts';
import {
  type Health,
  healthRow,
  type Receiver,
  type ReceiverColumns,
  receiverOf,
} from './receiver-rows.ts';

/** The leases of receivers: one is claimed while something is due to it. */
export const receiverLeases: LeasedTable = { table: 'receivers', key: 'id', due: 'due_at' };

/** Columns of a receiver that is neither failing nor paused. */
const unpaused = {
  consecutive_failures: 0,
  total_failures: 0,
  failing_since: null,
  disabled_at: null,
  disabled_reason: null,
};

/** The SQL of receivers: a tenant's URL, its health, and the lease of the process that delivers to it. */
export class ReceiverTable {
  readonly leases: LeaseRows;
  protected readonly db: Sql;

  constructor(db: Sql, leases: LeaseRows) {
    this.db = db;
    this.leases = leases;
  }

  async find(ids: readonly string[]): Promise<readonly Receiver[]> {
    if (ids.length === 0) return [];
    const wanted = [...new Set(ids)];
    const rows = await this.db.rows<ReceiverColumns>(
      `select * from receivers where id in (${placeholders(wanted.length)})`,
      wanted,
    );
    return rows.map(receiverOf);
  }

  /** The rows of these ids, locked until the transaction ends; ids without a row are skipped. */
  async forChange(ids: readonly string[]): Promise<readonly Receiver[]> {
    if (ids.length === 0) return [];
    const wanted = [...new Set(ids)];
    const rows = await this.db.rows<ReceiverColumns>(
      `select * from receivers where id in (${placeholders(wanted.length)}) order by id ${this.db.locking}`,
      wanted,
    );
    return rows.map(receiverOf);
  }

  /** Makes the receivers that are not there yet, never attempted. */
  async ensure(
    receivers: readonly { readonly id: string; readonly tenantId: string; readonly url: string }[],
    now: number,
  ): Promise<void> {
    await this.db.insertIgnore(
      'receivers',
      receivers.map((one) => ({
        id: one.id,
        tenant_id: one.tenantId,
        url: one.url,
        updated_at: now,
      })),
    );
  }

  /** Stores what attempts did to the health of receivers that the caller has locked. */
  async saveHealth(
    changed: readonly { readonly id: string; readonly health: Health }[],
  ): Promise<void> {
    await this.db.updateEach(
      'receivers',
      'id',
      changed.map(({ id, health }) => healthRow(id, health)),
    );
  }

  /** Ends a pause and takes the counts of failures back to nothing. */
  async reenable(id: string, now: number): Promise<void> {
    await this.db
      .knex('receivers')
      .where('id', id)
      .update({ ...unpaused, updated_at: now });
  }

  /** Begins the health anew, as if nothing had ever been attempted. */
  async reset(ids: readonly string[], now: number): Promise<void> {
    if (ids.length === 0) return;
    await this.db
      .knex('receivers')
      .whereIn('id', ids)
      .update({
        ...unpaused,
        total_successes: 0,
        last_failure: null,
        last_success_at: null,
        attempted_at: null,
        updated_at: now,
      });
  }

  /**
   * Makes these receivers due at a moment, or earlier.
   * @param announced whether the caller tells the other processes which they are, instead of the mark
   */
  async wake(ids: readonly string[], dueAt: number, announced = false): Promise<void> {
    if (ids.length === 0) return;
    const woken = [...new Set(ids)].sort();
    // Without a condition: at READ COMMITTED an update passes over rows that do not match by their last commit, and so
    // would not wait for a release that is just about to write that nothing is due.
    await this.db.run(
      `update receivers set due_at = case when due_at < ? then due_at else ? end
       where id in (${placeholders(woken.length)})`,
      [dueAt, dueAt, ...woken],
      { recurs: woken.length === 1 },
    );
    if (!announced) this.db.commitTopics.add('deliveries');
  }

  /** Gives leases up; each receiver is claimed again at its `dueAt`, or when something comes for it. */
  async release(
    released: readonly { readonly receiverId: string; readonly dueAt: number | null }[],
  ): Promise<void> {
    await this.db.updateEach(
      'receivers',
      'id',
      released.map(({ receiverId, dueAt }) => ({
        id: receiverId,
        due_at: dueAt,
        owner: null,
      })),
    );
  }

  /** When the next receiver that nobody works at is due; null when none is. */
  async nextDueAt(): Promise<number | null> {
    const [row] = await this.db.rows<{ due_at: number }>(
      `select due_at from receivers where owner is null and due_at is not null
       order by due_at limit 1`,
    );
    return row?.due_at ?? null;
  }

  /** How many receivers are paused. */
  async paused(): Promise<number> {
    const [row] = await this.db.rows<{ paused: number }>(
      'select count(*) as paused from receivers where disabled_at is not null',
    );
    return row?.paused ?? 0;
  }
}
