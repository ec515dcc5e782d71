import { chunks } from '../../../core/chunks.ts';
import { placeholders, SqlTable } from '../../../core/contracts/sql.ts';

/** What a long poll waits for; the slots of each kind are counted for themselves. */
export type PollKind = 'messages' | 'events';

/** Slots of open long polls that were granted together, and are one row of `waits` until the last is given back. */
export interface HeldSlots {
  readonly id: string;
  /** How many are held still. */
  readonly held: number;
}

/** One row of `waits`: open long polls of one kind and tenant, on one process, that end together. */
export interface OpenSlots extends HeldSlots {
  readonly kind: PollKind;
  readonly tenantId: string;
  readonly processId: string;
  /** When they end at the latest. */
  readonly endsAt: number;
}

/** The open waits of one tenant. */
export interface OpenWaits {
  readonly count: number;
  /** In how many milliseconds the first of them ends at the latest. */
  readonly firstEndsIn: number;
}

/** Which waits are counted. */
export interface WaitFilter {
  readonly kind: PollKind;
  readonly tenantIds: readonly string[];
  /** What was heard of a process within so many milliseconds lets its waits count. */
  readonly aliveMs: number;
  /** These processes are alive, whatever was heard of them. */
  readonly processIds: readonly string[];
  /** Rows that are left out. */
  readonly except: readonly string[];
}

/** Rows that one statement deletes: SQLite bounds its values. */
const atOnce = 10_000;

/** The SQL of open waits. */
export class WaitTable extends SqlTable {
  /** Stores slots that are taken; repeatable. */
  async open(slots: readonly OpenSlots[]): Promise<void> {
    await this.db.upsert(
      'waits',
      slots.map(({ id, kind, tenantId, processId, endsAt, held }) => ({
        id,
        kind,
        tenant_id: tenantId,
        process_id: processId,
        ends_at: endsAt,
        slots: held,
      })),
      { key: ['id'], set: ['ends_at', 'slots'] },
    );
  }

  /** Open waits by tenant: those on living processes, before their end. A tenant without one is left out. */
  async openOf(filter: WaitFilter): Promise<ReadonlyMap<string, OpenWaits>> {
    const tenantIds = [...new Set(filter.tenantIds)];
    const processIds = [...new Set(filter.processIds)];
    if (tenantIds.length === 0) return new Map();
    const { kind, except, aliveMs } = filter;
    const now = this.db.rowClock;
    const left = except.length === 0 ? '' : `and w.id not in (${placeholders(except.length)})`;
    const rows = await this.db.rows<{ tenant_id: string; open: number; first: number }>(
      `select w.tenant_id, sum(w.slots) as open, min(w.ends_at) - ${now} as first
       from waits w left join processes p on p.id = w.process_id
       where w.tenant_id in (${placeholders(tenantIds.length)}) and w.kind = ? and w.ends_at > ${now}
         and (w.process_id in (${placeholders(processIds.length)}) or p.seen_at > ${now} - ?) ${left}
       group by w.tenant_id`,
      [...tenantIds, kind, ...processIds, aliveMs, ...except],
      { recurs: filter.tenantIds.length === 1 },
    );
    return new Map(rows.map((row) => [row.tenant_id, { count: row.open, firstEndsIn: row.first }]));
  }

  /** Gives back what is not held any more; repeatable. */
  async keep(slots: readonly HeldSlots[]): Promise<void> {
    const held = slots.filter((one) => one.held > 0);
    await this.db.updateEach(
      'waits',
      'id',
      held.map((one) => ({ id: one.id, slots: one.held })),
    );
    await this.#delete(slots.filter((one) => one.held === 0).map((one) => one.id));
  }

  /**
   * Deletes a bounded number of rows that were over before a moment: their processes did not come to it. They are
   * read without a lock, so that nobody waits who just opens one. Answers how many.
   */
  async deleteOver(moment: number, limit: number): Promise<number> {
    const ids: string[] = await this.db
      .knex('waits')
      .where('ends_at', '<', moment)
      .limit(limit)
      .pluck('id');
    await this.#delete(ids);
    return ids.length;
  }

  async #delete(ids: readonly string[]): Promise<void> {
    for (const some of chunks(ids, atOnce)) {
      await this.db.run(`delete from waits where id in (${placeholders(some.length)})`, some, {
        recurs: some.length === 1,
      });
    }
  }
}
