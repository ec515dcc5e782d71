import type { EventType } from '../../../core/contracts/events.ts';
import { mysqlNow, placeholders, type Row, type Sql } from '../../../core/contracts/sql.ts';
import { newId } from '../../../core/ids.ts';
import type { EventBody, EventRecord } from '../contract.ts';

/** An event waits in the outbox until it has been fanned out to the subscriptions. */
const waiting = 0;
const fannedOut = 1;

/** Tells the time once the row is locked. */
const fanOutTurn = `select ${mysqlNow} as now from turns where name = 'fan-out' for update`;

/** An event as it lies in the outbox. */
export interface StoredEvent {
  readonly id: string;
  readonly tenantId: string;
  readonly type: EventType;
  readonly subject: string;
  readonly createdAt: number;
}

/** An event with its body, exactly as it was sent. */
export interface KeptEvent extends StoredEvent {
  readonly payload: string;
}

interface EventColumns {
  readonly id: string;
  readonly tenant_id: string;
  readonly type: EventType;
  readonly subject: string;
  readonly created_at: number;
}

/** The SQL of the outbox of events. */
export class EventTable {
  protected readonly db: Sql;

  constructor(db: Sql) {
    this.db = db;
  }

  /**
   * Puts events into the outbox; call it in the transaction of the change that causes them.
   * @param subscribers the tenants that have subscriptions, for a caller that has locked the tenants and so knows: to
   *   those of others nobody listens, and they are fanned out to nobody at once. Without it all wait.
   */
  async record(
    events: readonly EventRecord[],
    subscribers: ReadonlySet<string> | null = null,
  ): Promise<void> {
    const waits = ({ tenantId }: EventRecord): boolean => subscribers?.has(tenantId) ?? true;
    if (events.some(waits)) this.db.commitTopics.add('events');
    await this.db.insert(
      'events',
      events.map((event) => toRow(kept(event), waits(event) ? waiting : fannedOut)),
    );
  }

  /** Stores events whose deliveries are made in the same transaction; answers them as they are kept. */
  async recordFannedOut(events: readonly EventRecord[]): Promise<readonly KeptEvent[]> {
    const all = events.map(kept);
    await this.db.insert(
      'events',
      all.map((event) => toRow(event, fannedOut)),
    );
    return all;
  }

  /** Stores what is fanned out to nobody: the samples that tests delivered. Those that are there stay. */
  async keep(events: readonly KeptEvent[]): Promise<void> {
    await this.db.insertIgnore(
      'events',
      events.map((event) => toRow(event, fannedOut)),
    );
  }

  /**
   * The oldest events that wait, for the one transaction whose turn it is: others wait for its end. The events are
   * read at one moment, so that none is among them without those before it of the same subject; a scan that locked
   * them would stop on its way for those just being stored, and pass over what comes behind it meanwhile.
   * `now` is the database's clock once the turn began.
   */
  async waitingForChange(
    limit: number,
  ): Promise<{ readonly events: readonly StoredEvent[]; readonly now: number }> {
    const isMysql = this.db.dialect === 'mysql';
    // Whatever the engine believes of the table's size, a scan of it would read every event that is kept.
    const index = isMysql ? 'force index (events_state_id)' : '';
    const [[turn], rows] = await Promise.all([
      isMysql ? this.db.rows<{ now: number }>(fanOutTurn) : [],
      this.db.rows<EventColumns>(
        `select id, tenant_id, type, subject, created_at from events ${index}
         where state = ? order by id limit ?`,
        [waiting, limit],
      ),
    ]);
    const now = turn?.now ?? Date.now();
    const events = rows.map((row) => ({
      id: row.id,
      tenantId: row.tenant_id,
      type: row.type,
      subject: row.subject,
      createdAt: row.created_at,
    }));
    return { events, now };
  }

  /** Takes events out of the outbox; they stay as what their deliveries carry. */
  async markFannedOut(ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return;
    await this.db.run(`update events set state = ? where id in (${placeholders(ids.length)})`, [
      fannedOut,
      ...ids,
    ]);
  }

  /** The bodies of events, exactly as they are sent, by id. */
  async payloads(ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    if (ids.length === 0) return new Map();
    const rows: { id: string; payload: string }[] = await this.db
      .knex('events')
      .select('id', 'payload')
      .whereIn('id', [...new Set(ids)]);
    return new Map(rows.map((row) => [row.id, row.payload]));
  }

  /** What deliveries carry: the bodies of events and when they were raised, by id. */
  async bodies(ids: readonly string[]): Promise<ReadonlyMap<string, EventBody>> {
    if (ids.length === 0) return new Map();
    const rows: { id: string; payload: string; created_at: number }[] = await this.db
      .knex('events')
      .select('id', 'payload', 'created_at')
      .whereIn('id', [...new Set(ids)]);
    return new Map(
      rows.map((row) => [row.id, { payload: row.payload, createdAt: row.created_at }]),
    );
  }

  /** Deletes the events about these subjects, fanned out or not. */
  async deleteOfSubjects(tenantId: string, subjects: readonly string[]): Promise<void> {
    for (let start = 0; start < subjects.length; start += 1000) {
      await this.db
        .knex('events')
        .where('tenant_id', tenantId)
        .whereIn('subject', subjects.slice(start, start + 1000))
        .delete();
    }
  }

  /**
   * Deletes a bounded number of the oldest events that were raised before a moment, fanned out or not; answers how
   * many.
   */
  async deleteBefore(moment: number, limit: number): Promise<number> {
    const { knex } = this.db;
    const ids: string[] = await knex('events')
      .where('created_at', '<', moment)
      .orderBy('created_at')
      .limit(limit)
      .pluck('id');
    return ids.length === 0 ? 0 : knex('events').whereIn('id', ids).delete();
  }
}

/** An event with an id of its own, and its body as it will be sent. */
function kept({ tenantId, type, subject, payload, at }: EventRecord): KeptEvent {
  const body = JSON.stringify(payload);
  return { id: newId('evt', at), tenantId, type, subject, payload: body, createdAt: at };
}

function toRow(event: KeptEvent, state: typeof waiting | typeof fannedOut): Row {
  return {
    id: event.id,
    tenant_id: event.tenantId,
    type: event.type,
    subject: event.subject,
    payload: event.payload,
    state,
    created_at: event.createdAt,
  };
}
