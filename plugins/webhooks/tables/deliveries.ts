import type { Knex } from 'knex';
import type { EventType } from '../../../core/contracts/events.ts';
import { placeholders, type Row, type Sql } from '../../../core/contracts/sql.ts';
import type {
  Attempt,
  AttemptedDelivery,
  Delivery,
  DeliveryFilter,
  DeliveryState,
  DueDelivery,
  DueWithBody,
} from '../contract.ts';

interface DeliveryColumns {
  readonly id: string;
  readonly tenant_id: string;
  readonly webhook_id: string;
  readonly receiver_id: string;
  readonly event_id: string;
  readonly event_type: EventType;
  readonly subject: string;
  readonly state: DeliveryState;
  readonly test: number;
  readonly attempts: number;
  readonly retries: number;
  readonly replayed: number;
  readonly due_at: number | null;
  readonly log: string;
  readonly created_at: number;
}

type DueColumns = Pick<
  DeliveryColumns,
  | 'id'
  | 'webhook_id'
  | 'receiver_id'
  | 'event_id'
  | 'event_type'
  | 'subject'
  | 'attempts'
  | 'due_at'
>;

type AttemptedColumns = Pick<
  DeliveryColumns,
  | 'id'
  | 'webhook_id'
  | 'receiver_id'
  | 'event_type'
  | 'state'
  | 'attempts'
  | 'retries'
  | 'replayed'
  | 'due_at'
  | 'log'
>;

interface DueWithBodyColumns extends DueColumns {
  /** Both null when the event is gone. */
  readonly payload: string | null;
  readonly raised_at: number | null;
}

/** Query for what is due to one receiver. */
export interface DueRequest {
  readonly receiverId: string;
  /** Deliveries that are under way. */
  readonly except: readonly string[];
  /** Of these, first attempts are held back. */
  readonly exceptFirstOf: readonly { readonly webhookId: string; readonly subject: string }[];
  readonly limit: number;
}

/** Receivers whose deliveries one statement reads. */
const receiversAtOnce = 100;

/** The indexes in whose order a log is listed: all of a subscription, and what is in one state. */
const logIndex = 'deliveries_webhook_id_created_at_id';
const stateLogIndex = 'deliveries_webhook_id_state_created_at_id';

/** The SQL of deliveries. */
export class DeliveryTable {
  protected readonly db: Sql;

  constructor(db: Sql) {
    this.db = db;
  }

  /** Stores new deliveries; one of an event and subscription that has one already is left out. Answers how many came in. */
  async insert(deliveries: readonly Delivery[]): Promise<number> {
    return await this.db.insertIgnore('deliveries', deliveries.map(toRow));
  }

  /** The same without an answer, so that it can travel with COMMIT. */
  async add(deliveries: readonly Delivery[]): Promise<void> {
    const key = ['event_id', 'webhook_id'];
    // The row that is there takes the key that it has.
    await this.db.upsert('deliveries', deliveries.map(toRow), { key, set: key });
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
    return rows.map(delivery);
  }

  /** One delivery of a subscription; null when there is none with this id. */
  async find(webhookId: string, id: string): Promise<Delivery | null> {
    const row: DeliveryColumns | undefined = await this.db
      .knex('deliveries')
      .where({ id, webhook_id: webhookId })
      .first();
    return row === undefined ? null : delivery(row);
  }

  /** A page of a subscription's log, newest first. */
  async list(webhookId: string, filter: DeliveryFilter): Promise<readonly Delivery[]> {
    const { knex, dialect } = this.db;
    // Else MariaDB and MySQL would read the whole log, from its newest delivery on, for a page in the middle.
    const index = filter.state === null ? logIndex : stateLogIndex;
    const query = knex
      .from(
        dialect === 'mysql' ? knex.raw('?? force index (??)', ['deliveries', index]) : 'deliveries',
      )
      .where('webhook_id', webhookId);
    if (filter.state !== null) query.andWhere('state', filter.state);
    if (filter.event !== null) query.andWhere('event_type', filter.event);
    if (filter.before !== null) olderThan(query, filter.before);
    const rows: readonly DeliveryColumns[] = await query
      .orderBy([
        { column: 'created_at', order: 'desc' },
        { column: 'id', order: 'desc' },
      ])
      .limit(filter.limit);
    return rows.map(delivery);
  }

  /** The rows of these ids, locked until the transaction ends, in the order of the ids; others are skipped. */
  async forChange(ids: readonly string[]): Promise<readonly Delivery[]> {
    if (ids.length === 0) return [];
    const wanted = [...new Set(ids)];
    const rows = await this.db.rows<DeliveryColumns>(
      `select * from deliveries where id in (${placeholders(wanted.length)}) order by id ${this.db.locking}`,
      wanted,
    );
    return rows.map(delivery);
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
    const found: DueWithBody[] = [];
    for (let start = 0; start < requests.length; start += receiversAtOnce) {
      const selects = requests.slice(start, start + receiversAtOnce).map(dueOf(now));
      // In brackets of their own, as SQLite knows no limit for a part of a union.
      const all = selects.map(({ sql }) => `select * from (${sql}) as due`).join(' union all ');
      const due = selects.length === 1 ? selects[0]?.sql : all;
      const rows = await this.db.rows<DueWithBodyColumns>(
        `select due.*, e.payload, e.created_at as raised_at
         from (${due}) as due
         left join events as e on e.id = due.event_id`,
        selects.flatMap(({ bindings }) => bindings),
      );
      found.push(...rows.map(dueWithBody));
    }
    return found;
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

  /** Has deliveries wait for other receivers, those of their subscriptions. */
  async move(
    moved: readonly { readonly id: string; readonly receiverId: string }[],
  ): Promise<void> {
    await this.db.updateEach(
      'deliveries',
      'id',
      moved.map(({ id, receiverId }) => ({ id, receiver_id: receiverId })),
    );
  }

  /** Sends what waits for a subscription to another receiver from now on. */
  async redirect(webhookId: string, receiverId: string): Promise<void> {
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

function olderThan(query: Knex.QueryBuilder, [createdAt, id]: readonly [number, string]): void {
  // The first condition says nothing new; it lets both engines begin inside the index.
  query
    .andWhere('created_at', '<=', createdAt)
    .andWhere((older) =>
      older
        .where('created_at', '<', createdAt)
        .orWhere((same) => same.where('created_at', createdAt).andWhere('id', '<', id)),
    );
}

/** The columns of `DueColumns`. */
const dueColumns = 'id, webhook_id, receiver_id, event_id, event_type, subject, attempts, due_at';

/** The columns of `AttemptedColumns`. */
const attemptedColumns =
  'id, webhook_id, receiver_id, event_type, state, attempts, retries, replayed, due_at, log';

/** Part of a statement that reads for one receiver. */
function dueOf(now: number) {
  return ({ receiverId, except, exceptFirstOf, limit }: DueRequest) => {
    const others = except.length === 0 ? '' : `and id not in (${except.map(() => '?').join(', ')})`;
    const free = exceptFirstOf.map(() => 'and not (webhook_id = ? and subject = ?)').join(' ');
    return {
      sql: `select ${dueColumns} from deliveries
        where receiver_id = ? and state = 'waiting' and due_at <= ? ${others}
        and (attempts > 0 or (1 = 1 ${free}))
        order by due_at, id limit ?`,
      bindings: [
        receiverId,
        now,
        ...except,
        ...exceptFirstOf.flatMap(({ webhookId, subject }) => [webhookId, subject]),
        limit,
      ],
    };
  };
}

function toRow(one: Delivery): Row {
  return {
    id: one.id,
    tenant_id: one.tenantId,
    webhook_id: one.webhookId,
    receiver_id: one.receiverId,
    event_id: one.eventId,
    event_type: one.eventType,
    subject: one.subject,
    state: one.state,
    test: one.test ? 1 : 0,
    attempts: one.attempts,
    retries: one.retries,
    replayed: one.replayed ? 1 : 0,
    due_at: one.dueAt,
    log: JSON.stringify(one.log),
    created_at: one.createdAt,
  };
}

function delivery(row: DeliveryColumns): Delivery {
  return {
    ...attemptedDelivery(row),
    tenantId: row.tenant_id,
    eventId: row.event_id,
    subject: row.subject,
    test: row.test === 1,
    createdAt: row.created_at,
  };
}

function attemptedDelivery(row: AttemptedColumns): AttemptedDelivery {
  return {
    id: row.id,
    webhookId: row.webhook_id,
    receiverId: row.receiver_id,
    eventType: row.event_type,
    state: row.state,
    attempts: row.attempts,
    retries: row.retries,
    replayed: row.replayed === 1,
    dueAt: row.due_at,
    // Written by `toRow` and `save` above and by nobody else.
    log: JSON.parse(row.log) as Attempt[],
  };
}

function dueWithBody(row: DueWithBodyColumns): DueWithBody {
  const { payload, raised_at: createdAt } = row;
  const event = payload === null || createdAt === null ? null : { payload, createdAt };
  return { delivery: dueDelivery(row), event };
}

function dueDelivery(row: DueColumns): DueDelivery {
  return {
    id: row.id,
    webhookId: row.webhook_id,
    receiverId: row.receiver_id,
    eventId: row.event_id,
    eventType: row.event_type,
    subject: row.subject,
    attempts: row.attempts,
    dueAt: row.due_at,
  };
}
