import { chunks } from '../../../core/chunks.ts';
import { ofForgotten, type Sql } from '../../../core/contracts/sql.ts';
import {
  byHand,
  type DeliveryColumns,
  type DueDelivery,
  type DueWithBody,
} from './delivery-rows.ts';

type DueColumns = Pick<
  DeliveryColumns,
  | 'id'
  | 'webhook_id'
  | 'receiver_id'
  | 'event_id'
  | 'event_type'
  | 'subject'
  | 'attempts'
  | 'replayed'
  | 'due_at'
  | 'created_at'
>;

interface DueWithBodyColumns extends DueColumns {
  /** Null when the event is gone. */
  readonly payload: string | null;
  readonly raised_at: number | null;
  readonly trace: string | null;
  readonly is_forgotten: number;
}

/** Query for the due deliveries of one receiver. */
export interface DueRequest {
  readonly receiverId: string;
  /** Deliveries that are under way. */
  readonly except: readonly string[];
  /** Subjects whose first attempts are left out. */
  readonly exceptFirstOf: readonly { readonly webhookId: string; readonly subject: string }[];
  readonly limit: number;
}

/** Maximum receivers of one statement. */
const receiversAtOnce = 100;

/** The columns of `DueColumns`. */
const dueColumns =
  'id, webhook_id, receiver_id, event_id, event_type, subject, attempts, replayed, due_at, created_at';

/** Due deliveries of receivers, for each those that fell due first. */
export async function dueDeliveries(
  db: Sql,
  requests: readonly DueRequest[],
  now: number,
): Promise<readonly DueWithBody[]> {
  const found: DueWithBody[] = [];
  for (const some of chunks(requests, receiversAtOnce)) {
    const selects = some.map(dueOf(now));
    // In subqueries, as SQLite supports no limit within a union.
    const all = selects.map(({ sql }) => `select * from (${sql}) as due`).join(' union all ');
    const due = selects.length === 1 ? selects[0]?.sql : all;
    const rows = await db.rows<DueWithBodyColumns>(
      `select due.*, e.payload, e.created_at as raised_at, e.trace, ${ofForgotten('due.subject')} as is_forgotten
       from (${due}) as due
       left join events as e on e.id = due.event_id`,
      selects.flatMap(({ bindings }) => bindings),
    );
    found.push(...rows.map(dueWithBody));
  }
  return found;
}

/** Select for one receiver, for a union. */
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

function dueWithBody(row: DueWithBodyColumns): DueWithBody {
  const { payload, raised_at: createdAt, trace } = row;
  const isGone = payload === null || createdAt === null || row.is_forgotten === 1;
  return { delivery: dueDelivery(row), event: isGone ? null : { payload, createdAt, trace } };
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
    ...byHand(row),
    dueAt: row.due_at,
    createdAt: row.created_at,
  };
}
