import { newId } from '../../../core/ids.ts';
import type { EventRecord } from '../../messages/contract.ts';
import type { Executor } from '../executor.ts';

/** An event waits in the outbox until it has been fanned out to the subscriptions. */
const waiting = 0;

/** The SQL of the outbox of events. */
export class EventTable {
  protected readonly db: Executor;

  constructor(db: Executor) {
    this.db = db;
  }

  /** Puts events into the outbox; call it in the transaction of the change that causes them. */
  async record(events: readonly EventRecord[]): Promise<void> {
    await this.db.insert(
      'events',
      events.map((event) => ({
        id: newId('evt', event.at),
        tenant_id: event.tenantId,
        type: event.type,
        subject: event.subject,
        payload: JSON.stringify(event.payload),
        state: waiting,
        created_at: event.at,
      })),
    );
  }

  /** Deletes the events about these subjects that were not fanned out yet. */
  async deleteWaiting(tenantId: string, subjects: readonly string[]): Promise<void> {
    for (let start = 0; start < subjects.length; start += 1000) {
      await this.db
        .knex('events')
        .where({ tenant_id: tenantId, state: waiting })
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
