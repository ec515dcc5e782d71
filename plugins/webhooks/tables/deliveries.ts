import { placeholders, type Sql } from '../../../core/contracts/sql.ts';
import { type DeliveryFilter, deliveryPage } from './delivery-log.ts';
import {
  type AttemptedColumns,
  type AttemptedDelivery,
  attemptedColumns,
  attemptedDelivery,
  type Delivery,
  type DeliveryColumns,
  type DueWithBody,
  deliveryOf,
  deliveryRow,
} from './delivery-rows.ts';
import { type DueRequest, dueDeliveries } from './due-deliveries.ts';

/** The SQL of deliveries. */
export class DeliveryTable {
  protected readonly db: Sql;

  constructor(db: Sql) {
    this.db = db;
  }

  /** Stores new deliveries; one of an event and subscription that has one already is left out. Answers how many came in. */
  async insert(deliveries: readonly Delivery[]): Promise<number> {
    return await this.db.insertIgnore('deliveries', deliveries.map(deliveryRow));
  }

  /** The same without an answer, so that it can travel with COMMIT. */
  async add(deliveries: readonly Delivery[]): Promise<void> {
    const key = ['event_id', 'webhook_id'];
    // The row that is there takes the key that it has.
    await this.db.upsert('deliveries', deliveries.map(deliveryRow), { key, set: key });
  }

  /** Stores what became of deliveries that their receiver's lock guards. */
  async save(deliveries: readonly AttemptedDelivery[]): Promise<void> {
    await this.db.updateEach(
      'deliveries',
      'id',
      deliveries.map((one) => ({
        id: one.id,
        state: one.state,
        attempts: one.attempts,
        retries: one.retries,
        replayed: one.replayed ? 1 : 0,
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

  /** One delivery of a subscription; null when there is none with this id. */
  async find(webhookId: string, id: string): Promise<Delivery | null> {
    const row: DeliveryColumns | undefined = await this.db
      .knex('deliveries')
      .where({ id, webhook_id: webhookId })
      .first();
    return row === undefined ? null : deliveryOf(row);
  }

  /** A page of a subscription's log, newest first. */
  async list(webhookId: string, filter: DeliveryFilter): Promise<readonly Delivery[]> {
    return deliveryPage(this.db, webhookId, filter);
  }

  /** The rows of these ids, locked until the transaction ends, in the order of the ids; others are skipped. */
  async forChange(ids: readonly string[]): Promise<readonly Delivery[]> {
    if (ids.length === 0) return [];
    const wanted = [...new Set(ids)];
    const rows = await this.db.rows<DeliveryColumns>(
      `select * from deliveries where id in (${placeholders(wanted.length)}) order by id ${this.db.locking}`,
      wanted,
    );
    return rows.map(deliveryOf);
  }

  /** The same, of each row no more than an outcome is decided by. */
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

  /** What is due to each of some receivers, the first of each that fell due. */
  async due(requests: readonly DueRequest[], now: number): Promise<readonly DueWithBody[]> {
    return dueDeliveries(this.db, requests, now);
  }

  /** When the first waiting delivery of each of these receivers is due; those without one are left out. */
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
    // By their ids: a range would also wait for rows that a fan-out is just inserting.
    const ids: string[] = await this.db
      .knex('deliveries')
      .where({ webhook_id: webhookId, state: 'waiting' })
      .orderBy('id')
      .pluck('id');
    for (let start = 0; start < ids.length; start += 1000) {
      await this.db
        .knex('deliveries')
        .whereIn('id', ids.slice(start, start + 1000))
        .update({ receiver_id: receiverId });
    }
  }

  async delete(ids: readonly string[]): Promise<void> {
    if (ids.length > 0) await this.db.knex('deliveries').whereIn('id', ids).delete();
  }

  /** Deletes a bounded number of the deliveries of a subscription; answers how many. */
  async deleteOfWebhook(webhookId: string, limit: number): Promise<number> {
    const { knex } = this.db;
    const ids: string[] = await knex('deliveries')
      .where('webhook_id', webhookId)
      .limit(limit)
      .pluck('id');
    return ids.length === 0 ? 0 : knex('deliveries').whereIn('id', ids).delete();
  }

  /** Deletes all deliveries of events about these subjects. */
  async deleteOfSubjects(tenantId: string, subjects: readonly string[]): Promise<void> {
    for (let start = 0; start < subjects.length; start += 1000) {
      await this.db
        .knex('deliveries')
        .where('tenant_id', tenantId)
        .whereIn('subject', subjects.slice(start, start + 1000))
        .delete();
    }
  }

  /** Deletes a bounded number of the oldest deliveries made before a moment; answers how many. */
  async deleteBefore(moment: number, limit: number): Promise<number> {
    const { knex } = this.db;
    const ids: string[] = await knex('deliveries')
      .where('created_at', '<', moment)
      .orderBy('created_at')
      .limit(limit)
      .pluck('id');
    return ids.length === 0 ? 0 : knex('deliveries').whereIn('id', ids).delete();
  }

  /** How many deliveries wait for a retry. */
  async waitingRetries(): Promise<number> {
    const [row] = await this.db.rows<{ retries: number }>(
      "select count(*) as retries from deliveries where state = 'waiting' and attempts > 0",
    );
    return row?.retries ?? 0;
  }
}
