import { chunks } from '../../../core/chunks.ts';
import type { EventType } from '../../../core/contracts/events.ts';
import {
  deleteSome,
  ofForgotten,
  placeholders,
  type Row,
  SqlTable,
} from '../../../core/contracts/sql.ts';
import { idBound, newId } from '../../../core/ids.ts';
import type { EventRecord } from '../contract.ts';

/** States of an event: waiting in the outbox, or fanned out to the subscriptions. */
const waiting = 0;
const fannedOut = 1;

/** Sequence of what the feed does not show: it is numbered, and before every number. */
const outsideFeed = 0;

/** An event with its body, byte for byte as it is sent. */
export interface KeptEvent {
  readonly id: string;
  readonly tenantId: string;
  readonly type: EventType;
  readonly subject: string;
  readonly payload: string;
  readonly createdAt: number;
  readonly trace: string | null;
}

interface EventColumns {
  readonly id: string;
  readonly tenant_id: string;
  readonly type: EventType;
  readonly subject: string;
  readonly payload: string;
  readonly created_at: number;
  readonly trace: string | null;
}

/** The body of an event; null while its contact is being forgotten. */
export const toldPayload = `case when (${ofForgotten('events.subject')}) = 1 then null
  else events.payload end`;

/** The SQL of the outbox of events. */
export class EventTable extends SqlTable {
  /** Records events in the outbox, in the transaction that causes them: they wait for the fan-out. */
  async record(events: readonly EventRecord[]): Promise<void> {
    if (events.length > 0) this.db.commitTopics.add('events');
    this.#noteRaised(events);
    await this.db.insert(
      'events',
      events.map((event) => toRow(kept(event), waiting)),
    );
  }

  /** Stores events whose deliveries are made in the same transaction; answers the stored events. */
  async recordFannedOut(events: readonly EventRecord[]): Promise<readonly KeptEvent[]> {
    const all = events.map(kept);
    this.#noteRaised(events);
    await this.db.insert(
      'events',
      all.map((event) => toRow(event, fannedOut)),
    );
    return all;
  }

  /** Stores the samples of tests, which need no fan-out and are no events of the feed. Existing ones stay. */
  async keep(events: readonly KeptEvent[]): Promise<void> {
    await this.db.insertIgnore(
      'events',
      events.map((event) => ({ ...toRow(event, fannedOut), sequence: outsideFeed })),
    );
  }

  /**
   * Reads the oldest waiting events, for one transaction at a time: others wait for its end. A consistent read never
   * has an event without the earlier ones of its subject; a locking scan would stop at rows being inserted and miss
   * events stored behind it meanwhile. `now` is the time of the database once the turn began.
   */
  async waitingForChange(
    limit: number,
  ): Promise<{ readonly events: readonly KeptEvent[]; readonly now: number }> {
    const { dialect, rowClock } = this.db;
    const isMysql = dialect === 'mysql';
    // Takes the turn, and reads the time once the row is locked.
    const turnSql = `select ${rowClock} as now from turns where name = 'fan-out' for update`;
    // Without the hint a wrong estimate of the table's size can lead to a scan of all events.
    const index = isMysql ? 'force index (events_state_id)' : '';
    const [[turn], rows] = await Promise.all([
      isMysql ? this.db.rows<{ now: number }>(turnSql) : [],
      this.db.rows<EventColumns>(
        `select id, tenant_id, type, subject, payload, created_at, trace from events ${index}
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
      payload: row.payload,
      createdAt: row.created_at,
      trace: row.trace,
    }));
    return { events, now };
  }

  /** Marks events as fanned out; they stay as the bodies of their deliveries. */
  async markFannedOut(ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return;
    await this.db.run(`update events set state = ? where id in (${placeholders(ids.length)})`, [
      fannedOut,
      ...ids,
    ]);
  }

  /** Which of these events are still there. */
  async present(ids: readonly string[]): Promise<ReadonlySet<string>> {
    if (ids.length === 0) return new Set();
    return new Set(
      await this.db
        .knex('events')
        .whereIn('id', [...new Set(ids)])
        .pluck('id'),
    );
  }

  /** Bodies of events by id, byte for byte as they are sent; none about contacts that are being forgotten. */
  async payloads(ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    if (ids.length === 0) return new Map();
    const wanted = [...new Set(ids)];
    const rows = await this.db.rows<{ id: string; payload: string | null }>(
      `select id, ${toldPayload} as payload from events where id in (${placeholders(wanted.length)})`,
      wanted,
    );
    return new Map(rows.flatMap(({ id, payload }) => (payload === null ? [] : [[id, payload]])));
  }

  /** The events about these subjects, with their bodies. */
  async ofSubjects(
    tenantId: string,
    subjects: readonly string[],
  ): Promise<readonly Omit<KeptEvent, 'tenantId' | 'trace'>[]> {
    return this.db
      .knex('events')
      .select('id', 'type', 'subject', 'payload', { createdAt: 'created_at' })
      .where('tenant_id', tenantId)
      .whereIn('subject', [...subjects])
      .orderBy('id');
  }

  #noteRaised(events: readonly EventRecord[]): void {
    for (const { tenantId } of events) this.db.commitTopics.add(`raised:${tenantId}`);
  }

  /** Deletes the events about these subjects, fanned out or not. */
  async deleteOfSubjects(tenantId: string, subjects: readonly string[]): Promise<void> {
    for (const some of chunks(subjects, 1000)) {
      await this.db.knex('events').where('tenant_id', tenantId).whereIn('subject', some).delete();
    }
  }

  /**
   * Deletes the oldest events raised before a time, a bounded number, fanned out or not; answers how many. An event's id
   * begins with that time, so that no index of it has to be kept.
   */
  deleteBefore(moment: number, limit: number): Promise<number> {
    return deleteSome(this.db, { table: 'events', key: 'id', limit }, (rows) =>
      rows.where('id', '<', idBound('evt', moment)).orderBy('id'),
    );
  }
}

/** Gives an event its id, and its body as it is sent. */
function kept({ tenantId, type, subject, payload, at, trace = null }: EventRecord): KeptEvent {
  const body = JSON.stringify(payload);
  return { id: newId('evt', at), tenantId, type, subject, payload: body, createdAt: at, trace };
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
    trace: event.trace,
  };
}
