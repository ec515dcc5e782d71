import type { EventType } from '../../../core/contracts/events.ts';
import { placeholders, SqlTable } from '../../../core/contracts/sql.ts';
import { longestTransactionMs } from '../../../core/contracts/storage.ts';
import type { DeliveryState } from './delivery-rows.ts';

/** States whose deliveries a recovery may take. */
export const recoverable = ['failed', 'suppressed'] as const satisfies readonly DeliveryState[];

/** Up to which a recovery counts what there is: its tenant waits for the count. */
export const totalMost = 100_000;

/** The latest recovery of a subscription: a job that delivers logged deliveries anew. */
export interface Recovery {
  /** `rec_…` */
  readonly id: string;
  readonly webhookId: string;
  /** Which deliveries: of these states, created from `since` on and before `until`. */
  readonly states: readonly (typeof recoverable)[number][];
  readonly since: number;
  readonly until: number;
  /** Everything up to here, by creation time and id, was handed over. */
  readonly position: readonly [createdAt: number, id: string];
  /** The ids handed over last: the next ones follow once these are attempted. */
  readonly underWay: readonly string[];
  /** How many there were to deliver when it began, counted up to `totalMost`. */
  readonly total: number;
  /** How many were handed over. */
  readonly recovered: number;
  /** When it handed over last; until then, when it began. */
  readonly movedAt: number;
  readonly createdAt: number;
  /** Null while it runs. */
  readonly finishedAt: number | null;
}

interface RecoveryColumns {
  readonly webhook_id: string;
  readonly id: string;
  readonly states: string;
  readonly since_at: number;
  readonly until_at: number;
  readonly position: string;
  readonly under_way: string;
  readonly total: number;
  readonly recovered: number;
  readonly moved_at: number;
  readonly created_at: number;
  readonly finished_at: number | null;
}

const changing = ['position', 'under_way', 'recovered', 'moved_at', 'finished_at'] as const;

/** The SQL of recoveries. */
export class RecoveryTable extends SqlTable {
  /** Stores recoveries, each over an earlier one of its subscription. */
  async begin(recoveries: readonly Recovery[]): Promise<void> {
    const rows = recoveries.map((one) => ({ ...beginning(one), ...progress(one) }));
    const set = ['id', 'states', 'since_at', 'until_at', 'total', 'created_at', ...changing];
    await this.db.upsert('recoveries', rows, { key: ['webhook_id'], set });
  }

  /** Stores how far recoveries are, which the caller has locked. */
  async save(recoveries: readonly Recovery[]): Promise<void> {
    const rows = recoveries.map((one) => ({ webhook_id: one.webhookId, ...progress(one) }));
    await this.db.updateEach('recoveries', 'webhook_id', rows);
  }

  async find(webhookId: string): Promise<Recovery | null> {
    const row: RecoveryColumns | undefined = await this.db
      .knex('recoveries')
      .where('webhook_id', webhookId)
      .first();
    return row === undefined ? null : recoveryOf(row);
  }

  /** Reads and locks the recoveries of subscriptions. */
  async forChange(webhookIds: readonly string[]): Promise<readonly Recovery[]> {
    if (webhookIds.length === 0) return [];
    const wanted = [...new Set(webhookIds)].sort();
    const rows = await this.db.rows<RecoveryColumns>(
      `select * from recoveries where webhook_id in (${placeholders(wanted.length)})
       order by webhook_id ${this.db.locking}`,
      wanted,
    );
    return rows.map(recoveryOf);
  }

  /** The subscriptions with a recovery that runs. */
  async running(): Promise<readonly string[]> {
    return await this.db.knex('recoveries').whereNull('finished_at').pluck('webhook_id');
  }

  /** Deletes the recoveries of subscriptions that are gone. */
  async delete(webhookIds: readonly string[]): Promise<void> {
    if (webhookIds.length === 0) return;
    await this.db
      .knex('recoveries')
      .whereIn('webhook_id', [...webhookIds])
      .delete();
  }

  /** When the newest delivery of a subscription was created; 0 when there is none. */
  async newest(webhookId: string): Promise<number> {
    const [row] = await this.db.rows<{ newest: number | null }>(
      'select max(created_at) as newest from deliveries where webhook_id = ?',
      [webhookId],
    );
    return row?.newest ?? 0;
  }

  /** How many deliveries a recovery would find, counted up to `most`. */
  async count(
    { webhookId, states, since, until }: Pick<Recovery, 'webhookId' | 'states' | 'since' | 'until'>,
    most = totalMost,
  ): Promise<number> {
    const [row] = await this.db.rows<{ found: number }>(
      `select count(*) as found from (
         select 1 from deliveries where webhook_id = ? and state in (${placeholders(states.length)})
           and created_at >= ? and created_at < ? and test = 0
         limit ${most}
       ) as counted`,
      [webhookId, ...states, since, until],
    );
    return row?.found ?? 0;
  }

  /** The ids of suppressed ones that may have shown behind the position: their transactions were open when it began. */
  async late(recovery: Recovery, except: readonly EventType[], limit: number) {
    if (!this.#mayBeLate(recovery)) return [];
    const from = Math.max(recovery.since, begunAt(recovery) - longestTransactionMs);
    const states = ['suppressed'] as const;
    return await this.next({ ...recovery, states, position: [from, ''] }, except, limit);
  }

  /** Whether nothing that a recovery takes can show behind its position any more. */
  isSettled(recovery: Recovery, now: number): boolean {
    return !this.#mayBeLate(recovery) || now >= begunAt(recovery) + longestTransactionMs;
  }

  /** On SQLite none shows late: it has one writer at a time. */
  #mayBeLate({ states }: Recovery): boolean {
    return this.db.dialect === 'mysql' && states.includes('suppressed');
  }

  /** The ids behind a recovery's position, oldest first, but for events of some types. */
  async next(
    { webhookId, states, until, position }: Recovery,
    except: readonly EventType[],
    limit: number,
  ) {
    if (limit === 0) return [];
    const [createdAt, id] = position;
    const found: { readonly id: string; readonly created_at: number }[] = [];
    // A state at a time, each in the order of its index.
    for (const state of states) {
      const rows = await this.db.rows<(typeof found)[number]>(
        `select id, created_at from deliveries where webhook_id = ? and state = ?
           and created_at >= ? and (created_at > ? or id > ?) and created_at < ? and test = 0
           ${except.length === 0 ? '' : `and event_type not in (${placeholders(except.length)})`}
         order by created_at, id limit ${limit}`,
        [webhookId, state, createdAt, createdAt, id, until, ...except],
      );
      found.push(...rows);
    }
    return found
      .sort((one, other) => one.created_at - other.created_at || (one.id < other.id ? -1 : 1))
      .slice(0, limit)
      .map((row) => ({ id: row.id, createdAt: row.created_at }));
  }
}

/** The last moment of the deliveries that a recovery may find, as far as they were made before it began. */
function begunAt({ until, createdAt }: Recovery): number {
  return Math.min(until, createdAt);
}

function beginning(one: Recovery) {
  return {
    webhook_id: one.webhookId,
    id: one.id,
    states: one.states.join(),
    since_at: one.since,
    until_at: one.until,
    total: one.total,
    created_at: one.createdAt,
  };
}

function progress(one: Recovery) {
  return {
    position: JSON.stringify(one.position),
    under_way: JSON.stringify(one.underWay),
    recovered: one.recovered,
    moved_at: one.movedAt,
    finished_at: one.finishedAt,
  };
}

function recoveryOf(row: RecoveryColumns): Recovery {
  // Written by this table alone.
  return {
    id: row.id,
    webhookId: row.webhook_id,
    states: row.states.split(',') as Recovery['states'],
    since: row.since_at,
    until: row.until_at,
    position: JSON.parse(row.position) as Recovery['position'],
    underWay: JSON.parse(row.under_way) as Recovery['underWay'],
    total: row.total,
    recovered: row.recovered,
    movedAt: row.moved_at,
    createdAt: row.created_at,
    finishedAt: row.finished_at,
  };
}
