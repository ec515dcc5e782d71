import { placeholders, type Sql, SqlTable } from '../../../core/contracts/sql.ts';
import type { LeasedTable, LeaseRows } from '../../cluster/contract.ts';
import {
  type Health,
  healthRow,
  type Receiver,
  type ReceiverColumns,
  receiverOf,
} from './receiver-rows.ts';
import { deleteUnusedReceivers } from './unused-receivers.ts';

/** Leases of receivers. A receiver is claimed while something is due to it. */
export const receiverLeases: LeasedTable = { table: 'receivers', key: 'id', due: 'due_at' };

/** Columns of a receiver that is neither failing nor paused. */
const unpaused = {
  consecutive_failures: 0,
  total_failures: 0,
  failing_since: null,
  disabled_at: null,
  disabled_reason: null,
};

/** The SQL of receivers: tenant and URL, health, and the lease of the process that delivers. */
export class ReceiverTable extends SqlTable {
  readonly leases: LeaseRows;

  constructor(db: Sql, leases: LeaseRows) {
    super(db);
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

  /** Reads and locks receivers, in the order of their ids; ids without a row are skipped. */
  async forChange(ids: readonly string[]): Promise<readonly Receiver[]> {
    if (ids.length === 0) return [];
    const wanted = [...new Set(ids)];
    const rows = await this.db.rows<ReceiverColumns>(
      `select * from receivers where id in (${placeholders(wanted.length)}) order by id ${this.db.locking}`,
      wanted,
    );
    return rows.map(receiverOf);
  }

  /** Creates the receivers that do not exist, never attempted. */
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

  /** Stores the health of receivers, which the caller has locked. */
  async saveHealth(
    changed: readonly { readonly id: string; readonly health: Health }[],
  ): Promise<void> {
    await this.db.updateEach(
      'receivers',
      'id',
      changed.map(({ id, health }) => healthRow(id, health)),
    );
  }

  /** Ends a pause and resets the counts of failures. */
  async reenable(id: string, now: number): Promise<void> {
    await this.db
      .knex('receivers')
      .where('id', id)
      .update({ ...unpaused, updated_at: now });
  }

  /** Resets the health, as if nothing had ever been attempted. `deleteUnused` keeps the receivers for its time. */
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

  /** Makes receivers due at a time, or keeps an earlier due time. The caller notifies the processes that deliver. */
  async wake(ids: readonly string[], dueAt: number): Promise<void> {
    if (ids.length === 0) return;
    const woken = [...new Set(ids)].sort();
    // No condition on `due_at`: at READ COMMITTED an update skips rows that do not match by their last commit, so it
    // would not wait for a release that is about to write that nothing is due.
    await this.db.run(
      `update receivers set due_at = case when due_at < ? then due_at else ? end
       where id in (${placeholders(woken.length)})`,
      [dueAt, dueAt, ...woken],
      { recurs: woken.length === 1 },
    );
  }

  /** Releases leases. A receiver is claimed again at its `dueAt`, or when a new delivery makes it due. */
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

  /** Deletes receivers that no subscription has, see `deleteUnusedReceivers`. */
  deleteUnused(before: number, limit: number): Promise<number> {
    return deleteUnusedReceivers(this.db, before, limit);
  }

  /** Earliest due time of the free receivers; null when none is due. */
  async nextDueAt(): Promise<number | null> {
    const [row] = await this.db.rows<{ due_at: number }>(
      `select due_at from receivers where owner is null and due_at is not null
       order by due_at limit 1`,
    );
    return row?.due_at ?? null;
  }

  /** How many receivers have failed last, and how many are paused. */
  async troubled(): Promise<{ readonly failing: number; readonly paused: number }> {
    const [row] = await this.db.rows<{ failing: number; paused: number }>(
      `select
         (select count(*) from receivers where failing_since is not null and disabled_at is null) as failing,
         (select count(*) from receivers where disabled_at is not null) as paused`,
    );
    return row ?? { failing: 0, paused: 0 };
  }
}
