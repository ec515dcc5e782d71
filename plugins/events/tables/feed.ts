import type { EventType } from '../../../core/contracts/events.ts';
import { placeholders, SqlTable } from '../../../core/contracts/sql.ts';
import { toldPayload } from './events.ts';

/**
 * A numbered event with its body, byte for byte as webhooks send it but for the address of media. A null body: the
 * messages of the event's contact are being deleted.
 */
export interface FeedEvent {
  readonly id: string;
  readonly type: EventType;
  readonly sequence: number;
  readonly createdAt: number;
  readonly payload: string | null;
}

/** How far the feed of a tenant is. */
export interface FeedState {
  /** The last number that was given; 0 before the first. */
  readonly last: number;
  /** Whether there are events without a number. */
  readonly hasFresh: boolean;
}

/** What lies behind a number in a tenant's feed. */
export interface PassedEvents {
  /** How many events were gone through, and the number of the last one. */
  readonly count: number;
  readonly last: number | null;
  /** The number of the first one that is from the moment or later. */
  readonly wanted: number | null;
}

/** Events that one CASE numbers: its time grows with their square. */
const fewEvents = 50;

interface FeedColumns {
  readonly id: string;
  readonly type: EventType;
  readonly sequence: number;
  readonly created_at: number;
  readonly payload: string | null;
}

/** The SQL of the feed: the events of a tenant in the order of their numbers. */
export class FeedTable extends SqlTable {
  /** How far the feeds of these tenants are, by tenant. */
  async states(tenantIds: readonly string[]): Promise<ReadonlyMap<string, FeedState>> {
    const wanted = [...new Set(tenantIds)];
    if (wanted.length === 0) return new Map();
    const rows = await this.db.rows<{ id: string; last: number | null; fresh: number }>(
      `select t.id, f.last,
         exists (select 1 from events e where e.tenant_id = t.id and e.sequence is null) as fresh
       from tenants t left join event_feeds f on f.tenant_id = t.id
       where t.id in (${placeholders(wanted.length)})`,
      wanted,
      { recurs: wanted.length === 1 },
    );
    return new Map(
      rows.map(({ id, last, fresh }) => [id, { last: last ?? 0, hasFresh: fresh === 1 }]),
    );
  }

  /** A tenant's events behind a number, oldest first. */
  async after(tenantId: string, sequence: number, limit: number): Promise<readonly FeedEvent[]> {
    const rows = await this.db.rows<FeedColumns>(
      `select id, type, sequence, created_at, ${toldPayload} as payload from events ${this.#index}
       where tenant_id = ? and sequence > ? order by sequence limit ?`,
      [tenantId, sequence, limit],
      { recurs: true },
    );
    return rows.map(({ created_at: createdAt, ...row }) => ({ ...row, createdAt }));
  }

  /**
   * Whether a tenant's event with this number, or one before it, is still stored: then no later event was deleted by age,
   * but for one that got its number after a younger event.
   */
  async keepsUpTo(tenantId: string, sequence: number): Promise<boolean> {
    const found = await this.db.rows(
      `select 1 from events ${this.#index}
       where tenant_id = ? and sequence between 1 and ? limit 1`,
      [tenantId, sequence],
    );
    return found.length > 0;
  }

  /**
   * Finds out how many of a tenant's events behind a number are from before a moment, without their bodies.
   * @param limit the most events that are gone through
   */
  async before(
    tenantId: string,
    sequence: number,
    since: number,
    limit: number,
  ): Promise<PassedEvents> {
    const [passed] = await this.db.rows<PassedEvents>(
      `select count(*) as count, max(sequence) as last,
         min(case when created_at >= ? then sequence end) as wanted
       from (select sequence, created_at from events ${this.#index}
         where tenant_id = ? and sequence > ? order by sequence limit ?) behind`,
      [since, tenantId, sequence, limit],
    );
    return passed ?? { count: 0, last: null, wanted: null };
  }

  /**
   * Locks the feed of a tenant until the transaction ends, then reads its last number and the oldest events without one.
   * The events are a consistent read, so that none is without the earlier ones of its subject, and no insert is waited
   * for. All three statements travel in one packet.
   */
  async lock(
    tenantId: string,
    limit: number,
  ): Promise<{ readonly last: number; readonly fresh: readonly string[] }> {
    const row = { tenant_id: tenantId, last: 0 };
    const [, [feed], fresh] = await Promise.all([
      // A row that is not there yet cannot be locked: this makes it, or locks it.
      this.db.upsert('event_feeds', [row], { key: ['tenant_id'], add: ['last'] }),
      this.db.rows<{ last: number }>('select last from event_feeds where tenant_id = ?', [
        tenantId,
      ]),
      this.db.rows<{ id: string }>(
        `select id from events ${this.#index}
         where tenant_id = ? and sequence is null order by id limit ?`,
        [tenantId, limit],
      ),
    ]);
    return { last: feed?.last ?? 0, fresh: fresh.map(({ id }) => id) };
  }

  /** Numbers events in this order behind the last number. The caller has locked the feed. */
  async number(tenantId: string, last: number, ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return;
    await this.#setNumbers(last, ids);
    const row = { tenant_id: tenantId, last: last + ids.length };
    await this.db.upsert('event_feeds', [row], { key: ['tenant_id'], set: ['last'] });
  }

  async #setNumbers(last: number, ids: readonly string[]): Promise<void> {
    if (ids.length <= fewEvents) {
      const rows = ids.map((id, n) => ({ id, sequence: last + 1 + n }));
      await this.db.updateEach('events', 'id', rows);
    } else if (this.db.dialect === 'mysql') {
      await this.db.run(
        `update json_table(?, '$[*]' columns (ordinal for ordinality,
           id varchar(60) character set ascii collate ascii_bin path '$')) numbered
         straight_join events on events.id = numbered.id
         set events.sequence = ? + numbered.ordinal`,
        [JSON.stringify(ids), last],
      );
    } else {
      await this.db.run(
        `update events set sequence = ? + 1 + numbered.key from json_each(?) numbered
         where events.id = numbered.value`,
        [last, JSON.stringify(ids)],
      );
    }
  }

  /** Leaves numbers out in the feeds of all tenants, at least so many and all up to `reached`, so that none is given twice. */
  async advance(step: number, reached: number): Promise<void> {
    const ids: readonly string[] = await this.db.knex('tenants').pluck('id');
    await this.db.insertIgnore(
      'event_feeds',
      ids.map((tenant_id) => ({ tenant_id })),
    );
    const greatest = this.db.dialect === 'mysql' ? 'greatest' : 'max';
    await this.db.run(`update event_feeds set last = ${greatest}(last + ?, ?)`, [step, reached]);
  }

  /** Without the hint a wrong estimate of the table's size can lead to a scan of all events. */
  get #index(): string {
    return this.db.dialect === 'mysql' ? 'force index (events_tenant_id_sequence_id)' : '';
  }
}
