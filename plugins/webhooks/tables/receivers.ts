import { placeholders, type Sql } from '../../../core/contracts/sql.ts';
import type {
  Health,
  LastFailure,
  LeasedReceiver,
  Receiver,
  ReceiverLease,
  ReceiverRenewal,
} from '../contract.ts';

interface ReceiverColumns {
  readonly id: string;
  readonly tenant_id: string;
  readonly url: string;
  readonly consecutive_failures: number;
  readonly total_failures: number;
  readonly total_successes: number;
  readonly failing_since: number | null;
  readonly disabled_at: number | null;
  readonly disabled_reason: string | null;
  readonly last_failure: string | null;
  readonly last_success_at: number | null;
  readonly attempted_at: number | null;
  readonly updated_at: number;
  readonly due_at: number | null;
  readonly owner: string | null;
  readonly fence: number;
  readonly lease_until: number;
}

type LeaseColumns = Pick<ReceiverColumns, 'id' | 'owner' | 'fence'>;

/** Counters and marks that stand at nothing. */
const unpaused = {
  consecutive_failures: 0,
  total_failures: 0,
  failing_since: null,
  disabled_at: null,
  disabled_reason: null,
};

/** The SQL of receivers: a tenant's URL, its health, and the lease of the process that delivers to it. */
export class ReceiverTable {
  protected readonly db: Sql;

  constructor(db: Sql) {
    this.db = db;
  }

  async find(ids: readonly string[]): Promise<readonly Receiver[]> {
    if (ids.length === 0) return [];
    const wanted = [...new Set(ids)];
    const rows = await this.db.rows<ReceiverColumns>(
      `select * from receivers where id in (${placeholders(wanted.length)})`,
      wanted,
    );
    return rows.map(receiver);
  }

  /** The rows of these ids, locked until the transaction ends; ids without a row are skipped. */
  async forChange(ids: readonly string[]): Promise<readonly Receiver[]> {
    if (ids.length === 0) return [];
    const wanted = [...new Set(ids)];
    const rows = await this.db.rows<ReceiverColumns>(
      `select * from receivers where id in (${placeholders(wanted.length)}) order by id ${this.db.locking}`,
      wanted,
    );
    return rows.map(receiver);
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
      changed.map(({ id, health }) => ({
        id,
        consecutive_failures: health.consecutiveFailures,
        total_failures: health.totalFailures,
        total_successes: health.totalSuccesses,
        failing_since: health.failingSince,
        disabled_at: health.disabledAt,
        disabled_reason: health.disabledReason,
        last_failure: health.lastFailure === null ? null : JSON.stringify(health.lastFailure),
        last_success_at: health.lastSuccessAt,
        attempted_at: health.attemptedAt,
        updated_at: health.updatedAt,
      })),
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

  /** Whether `claimDue` would find something. Without a lock. */
  async hasDue(now: number): Promise<boolean> {
    const row: unknown = await this.db
      .knex('receivers')
      .where('due_at', '<=', now)
      .andWhere('lease_until', '<=', now)
      .first('id');
    return row !== undefined;
  }

  /** Takes up to `limit` receivers that are due and free; leaves alone what somebody locks. */
  async claimDue(
    owner: string,
    now: number,
    expiresAt: number,
    limit: number,
  ): Promise<readonly LeasedReceiver[]> {
    const query = this.db
      .knex('receivers')
      .select('id')
      .where('due_at', '<=', now)
      .andWhere('lease_until', '<=', now)
      // In the order of the index: a sort would lock every due row, not only those that are taken.
      .orderBy('due_at')
      .limit(limit);
    if (this.db.dialect === 'mysql') query.forUpdate().skipLocked();
    const due: { id: string }[] = await query;
    if (due.length === 0) return [];
    const ids = due.map((row) => row.id);
    await this.db
      .knex('receivers')
      .whereIn('id', ids)
      .update({ owner, lease_until: expiresAt, fence: this.db.knex.raw('fence + 1') });
    const taken: readonly ReceiverColumns[] = await this.db.knex('receivers').whereIn('id', ids);
    return taken.map((row) => leased(row, owner));
  }

  /** What a process holds at a moment, whether it knows or not. */
  async ownedBy(owner: string, now: number): Promise<readonly LeasedReceiver[]> {
    const rows: readonly ReceiverColumns[] = await this.db
      .knex('receivers')
      .where('owner', owner)
      .andWhere('lease_until', '>', now);
    return rows.map((row) => leased(row, owner));
  }

  /**
   * Prolongs leases that still stand, expired or not. What somebody locks at this moment is skipped, so that one
   * stuck row lets no other lease run out.
   */
  async renew(leases: readonly ReceiverLease[], expiresAt: number): Promise<ReceiverRenewal> {
    if (leases.length === 0) return { renewed: new Set(), lost: new Set() };
    const query = this.db
      .knex('receivers')
      .select('id', 'owner', 'fence')
      .whereIn(
        'id',
        leases.map((lease) => lease.receiverId),
      )
      .orderBy('id');
    if (this.db.dialect === 'mysql') query.forUpdate().skipLocked();
    const rows: readonly LeaseColumns[] = await query;
    const renewed = standing(leases, rows);
    if (renewed.size > 0) {
      await this.db
        .knex('receivers')
        .whereIn('id', [...renewed])
        .update({ lease_until: expiresAt });
    }
    const lost = rows.map((row) => row.id).filter((id) => !renewed.has(id));
    return { renewed, lost: new Set(lost) };
  }

  /** The ids of the receivers whose lease still has that owner and number. */
  async heldBy(leases: readonly ReceiverLease[]): Promise<ReadonlySet<string>> {
    if (leases.length === 0) return new Set();
    const rows: readonly LeaseColumns[] = await this.db
      .knex('receivers')
      .select('id', 'owner', 'fence')
      .whereIn(
        'id',
        leases.map((lease) => lease.receiverId),
      );
    return standing(leases, rows);
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
        lease_until: 0,
      })),
    );
  }

  /** When the next receiver that nobody works at is due; null when none is. */
  async nextDueAt(now: number): Promise<number | null> {
    // Sorted instead of `min`, so that the index is read up to the first one that is free.
    const [row] = await this.db.rows<{ due_at: number }>(
      `select due_at from receivers where due_at is not null and lease_until <= ?
       order by due_at limit 1`,
      [now],
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

/** Those whose row has the owner and number of the lease. */
function standing(
  leases: readonly ReceiverLease[],
  rows: readonly LeaseColumns[],
): ReadonlySet<string> {
  const found = new Map(rows.map((row) => [row.id, row]));
  const stands = leases.filter(({ receiverId, owner, number }) => {
    const row = found.get(receiverId);
    return row?.owner === owner && row.fence === number;
  });
  return new Set(stands.map((lease) => lease.receiverId));
}

function leased(row: ReceiverColumns, owner: string): LeasedReceiver {
  return {
    receiver: receiver(row),
    lease: { receiverId: row.id, owner, number: row.fence, expiresAt: row.lease_until },
  };
}

function receiver(row: ReceiverColumns): Receiver {
  return {
    id: row.id,
    tenantId: row.tenant_id,
    url: row.url,
    health: {
      consecutiveFailures: row.consecutive_failures,
      totalFailures: row.total_failures,
      totalSuccesses: row.total_successes,
      failingSince: row.failing_since,
      disabledAt: row.disabled_at,
      disabledReason: row.disabled_reason,
      // Written by `saveHealth` above and by nobody else.
      lastFailure: row.last_failure === null ? null : (JSON.parse(row.last_failure) as LastFailure),
      lastSuccessAt: row.last_success_at,
      attemptedAt: row.attempted_at,
      updatedAt: row.updated_at,
    },
  };
}
