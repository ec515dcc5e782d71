import type { EventType } from '../../../core/contracts/events.ts';
import { placeholders, type Sql } from '../../../core/contracts/sql.ts';
import type { LeasedTable, LeaseRows, LeaseToken } from '../../cluster/contract.ts';

/** Why an attempt failed: an egress failure, or an answer other than 2xx. */
export type FailureKind = 'timeout' | 'connection' | 'tls' | 'blocked' | 'status';

/** The last failed attempt of a receiver. */
export interface LastFailure {
  readonly at: number;
  readonly event: EventType;
  readonly deliveryId: string;
  readonly attempt: number;
  readonly kind: FailureKind;
  /** The status answered; null unless `kind` is `status`. */
  readonly statusCode: number | null;
  readonly message: string;
  readonly durationMs: number;
}

/** Delivery health of one tenant's URL (specification: Webhook delivery health). Totals count attempts. */
export interface Health {
  readonly consecutiveFailures: number;
  readonly totalFailures: number;
  readonly totalSuccesses: number;
  /** The first of the consecutive failures; null when there are none. */
  readonly failingSince: number | null;
  /** Not null while paused. */
  readonly disabledAt: number | null;
  readonly disabledReason: string | null;
  readonly lastFailure: LastFailure | null;
  readonly lastSuccessAt: number | null;
  /** The first attempt since the counters began; null: none yet, and the health shown is null. */
  readonly attemptedAt: number | null;
  readonly updatedAt: number;
}

/** One tenant's URL: where deliveries go, whoever subscribed with it. */
export interface Receiver {
  /** SHA-256 of tenant and URL, hex. */
  readonly id: string;
  readonly tenantId: string;
  readonly url: string;
  readonly health: Health;
}

/** A receiver with the lease on it: one process at a time delivers, so that first attempts keep their order. */
export interface LeasedReceiver {
  readonly receiver: Receiver;
  readonly lease: LeaseToken;
}

/** The leases of receivers: one is claimed while something is due to it. */
export const receiverLeases: LeasedTable = { table: 'receivers', key: 'id', due: 'due_at' };

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
}

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
