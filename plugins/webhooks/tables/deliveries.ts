import { chunks } from '../../../core/chunks.ts';
import { deleteSome, ofForgotten, placeholders, SqlTable } from '../../../core/contracts/sql.ts';
import {
  type DeliveryBacklog,
  type DeliveryFilter,
  deliveryBacklog,
  deliveryEvents,
  deliveryPage,
  type ListedDelivery,
} from './delivery-log.ts';
import {
  type AttemptedColumns,
  type AttemptedDelivery,
  attemptedColumns,
  attemptedDelivery,
  byHandColumn,
  type Delivery,
  type DeliveryColumns,
  type DueWithBody,
  deliveryOf,
  deliveryRow,
} from './delivery-rows.ts';
import { type DueRequest, dueDeliveries } from './due-deliveries.ts';

/** Deliveries that wait, of all receivers. */
export interface WaitingDeliveries {
  /** Those never attempted, but for replays. */
  readonly first: number;
  /** Retries and replays. */
  readonly retries: number;
  readonly oldestFirst: number | null;
}

/** The SQL of deliveries. */
export class DeliveryTable extends SqlTable {
  /**
   * Stores new deliveries, at most one for an event and subscription. Without a count: the statement can be sent with
   * COMMIT.
   */
  async add(deliveries: readonly Delivery[]): Promise<void> {
    const key = ['event_id', 'webhook_id'];
    // An existing row is set to the key that it has: nothing changes.
    await this.db.upsert('deliveries', deliveries.map(deliveryRow), { key, set: key });
  }

  /** Stores changed deliveries, which the caller has locked. */
  async save(deliveries: readonly AttemptedDelivery[]): Promise<void> {
    await this.db.updateEach(
      'deliveries',
      'id',
      deliveries.map((one) => ({
        id: one.id,
        state: one.state,
        attempts: one.attempts,
        retries: one.retries,
        replayed: byHandColumn(one),
        due_at: one.dueAt,
        log: JSON.stringify(one.log),
      })),
    );
  }

  async byIds(ids: readonly string[]): Promise<readonly Delivery[]> {
    if (ids.length === 0) return [];
    const rows: readonly DeliveryColumns[] = await this.db
      .knex('deliveries')
      .whereIn('id', [...new Set(ids)]);
    return rows.map(deliveryOf);
  }

  /** A page of a subscription's log, newest first. */
  async list(webhookId: string, filter: DeliveryFilter): Promise<readonly Delivery[]> {
    return deliveryPage(this.db, webhookId, filter);
  }

  /** The events of the deliveries of such a page. */
  async listEvents(webhookId: string, filter: DeliveryFilter): Promise<readonly ListedDelivery[]> {
    return deliveryEvents(this.db, webhookId, filter);
  }

  /** Reads and locks deliveries, in the order of their ids; ids without a row are skipped. */
  async forChange(ids: readonly string[]): Promise<readonly Delivery[]> {
    if (ids.length === 0) return [];
    const wanted = [...new Set(ids)];
    const rows = await this.db.rows<DeliveryColumns>(
      `select * from deliveries where id in (${placeholders(wanted.length)}) order by id ${this.db.locking}`,
      wanted,
    );
    return rows.map(deliveryOf);
  }

  /** Those of these deliveries that are about contacts that are being forgotten. */
  async ofForgotten(ids: readonly string[]): Promise<ReadonlySet<string>> {
    if (ids.length === 0) return new Set();
    const rows = await this.db.rows<{ readonly id: string }>(
      `select id from deliveries
       where id in (${placeholders(ids.length)}) and (${ofForgotten('deliveries.subject')}) = 1`,
      ids,
    );
    return new Set(rows.map(({ id }) => id));
  }

  /** Reads and locks deliveries like `forChange`, only the columns that an outcome needs. */
  async forOutcome(ids: readonly string[]): Promise<readonly AttemptedDelivery[]> {
    if (ids.length === 0) return [];
    const wanted = [...new Set(ids)];
    const rows = await this.db.rows<AttemptedColumns>(
      `select ${attemptedColumns} from deliveries
       where id in (${placeholders(wanted.length)}) order by id ${this.db.locking}`,
      wanted,
    );
    return rows.map(attemptedDelivery);
  }

  /** Due deliveries of receivers, for each those that fell due first. */
  async due(requests: readonly DueRequest[], now: number): Promise<readonly DueWithBody[]> {
    return dueDeliveries(this.db, requests, now);
  }

  /** Earliest due time of each receiver; receivers without a waiting delivery are left out. */
  async nextDueAt(receiverIds: readonly string[]): Promise<ReadonlyMap<string, number>> {
    if (receiverIds.length === 0) return new Map();
    const rows: { receiver_id: string; due_at: number }[] = await this.db
      .knex('deliveries')
      .select('receiver_id')
      .min('due_at as due_at')
      .whereIn('receiver_id', [...new Set(receiverIds)])
      .andWhere('state', 'waiting')
      .groupBy('receiver_id');
    return new Map(rows.map((row) => [row.receiver_id, row.due_at]));
  }

  /** Assigns deliveries to other receivers, those of their subscriptions. */
  async reassign(
    changed: readonly { readonly id: string; readonly receiverId: string }[],
  ): Promise<void> {
    await this.db.updateEach(
      'deliveries',
      'id',
      changed.map(({ id, receiverId }) => ({ id, receiver_id: receiverId })),
    );
  }

  /** Assigns the waiting deliveries of a subscription to another receiver. */
  async reassignWaiting(webhookId: string, receiverId: string): Promise<void> {
    // By ids: a range would also wait for rows that a fan-out is inserting.
    const ids: string[] = await this.db
      .knex('deliveries')
      .where({ webhook_id: webhookId, state: 'waiting' })
      .orderBy('id')
      .pluck('id');
    for (const some of chunks(ids, 1000)) {
      await this.db.knex('deliveries').whereIn('id', some).update({ receiver_id: receiverId });
    }
  }

  async delete(ids: readonly string[]): Promise<void> {
    if (ids.length > 0) await this.db.knex('deliveries').whereIn('id', ids).delete();
  }

  /** Deletes a bounded number of the deliveries of a subscription; answers how many. */
  deleteOfWebhook(webhookId: string, limit: number): Promise<number> {
    return deleteSome(this.db, { table: 'deliveries', key: 'id', limit }, (rows) =>
      rows.where('webhook_id', webhookId),
    );
  }

  /** The deliveries of events about these subjects. */
  async ofSubjects(tenantId: string, subjects: readonly string[]): Promise<readonly Delivery[]> {
    const rows: readonly DeliveryColumns[] = await this.db
      .knex('deliveries')
      .where('tenant_id', tenantId)
      .whereIn('subject', [...subjects])
      .orderBy('id');
    return rows.map(deliveryOf);
  }

  /** Deletes all deliveries of events about these subjects. */
  async deleteOfSubjects(tenantId: string, subjects: readonly string[]): Promise<void> {
    for (const some of chunks(subjects, 1000)) {
      await this.db
        .knex('deliveries')
        .where('tenant_id', tenantId)
        .whereIn('subject', some)
        .delete();
    }
  }

  /**
   * Deletes a bounded number of old deliveries, none that waits for an event that is kept; answers how many.
   * @param moment before which they were made
   * @param waitingMoment before which those that wait were made: their events are gone
   */
  async deleteBefore(moment: number, waitingMoment: number, limit: number): Promise<number> {
    const { knex, dialect } = this.db;
    // MariaDB would take the index of states for what is in another, and sort.
    const index = dialect === 'mysql' ? 'force index (deliveries_created_at_state)' : '';
    const found = await this.db.rows<{ readonly id: string }>(
      `select id from deliveries ${index}
       where created_at < ? and (state <> 'waiting' or created_at < ?)
       order by created_at limit ?`,
      [moment, waitingMoment, limit],
    );
    if (found.length === 0) return 0;
    // One of them may have been replayed since the read.
    return knex('deliveries')
      .whereIn(
        'id',
        found.map(({ id }) => id),
      )
      .andWhere((old) => old.whereNot('state', 'waiting').orWhere('created_at', '<', waitingMoment))
      .delete();
  }

  /** What waits for its first attempt to a subscription, but for replays. */
  async backlog(webhookId: string): Promise<DeliveryBacklog> {
    return deliveryBacklog(this.db, webhookId);
  }

  /** How many deliveries wait, and when the oldest that waits for its first attempt was made, but for replays. */
  async waiting(): Promise<WaitingDeliveries> {
    const first = `from deliveries where state = 'waiting' and attempts = 0 and replayed = 0`;
    const [row] = await this.db.rows<WaitingDeliveries>(
      `select
         (select count(*) ${first}) as first,
         (select count(*) from deliveries where state = 'waiting' and attempts > 0)
           + (select count(*) from deliveries where state = 'waiting' and attempts = 0 and replayed = 1) as retries,
         (select created_at ${first} order by created_at limit 1) as oldestFirst`,
    );
    return row ?? { first: 0, retries: 0, oldestFirst: null };
  }
}
