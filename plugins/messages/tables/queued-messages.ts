import { SqlTable } from '../../../core/contracts/sql.ts';
import type { AccountReason } from '../../accounts/contract.ts';
import { locked, messageRows, messagesBy } from './message-lists.ts';
import {
  type MessageColumns,
  messageFromColumns,
  type QueuePosition,
  type StoredMessage,
  toPosition,
} from './message-rows.ts';

/** Queued messages of the accounts of a channel in one status, of live tenants or of test tenants. */
export interface QueueCount {
  readonly channel: string;
  readonly mode: 'live' | 'test';
  readonly status: string;
  readonly queued: number;
  /** When the oldest of them was accepted. */
  readonly oldest: number;
  /** The earliest time since which no message has left one of these queues in its turn. */
  readonly stalledSince: number;
}

/** Messages right before a queue of which one has left it at the account's pace: some failed without a hand-over. */
const justBefore = 20;

/** The last sequence of an account's abandoned queues; 0 without one. */
const lastAbandoned = 'coalesce((select max(up_to) from abandoned_queues where account_id = ?), 0)';

/** Which messages of a queue. */
export interface QueuePart {
  /** The last sequence. */
  readonly upTo?: number;
  /** Those handed to the network before a moment, and those that were not. */
  readonly dispatchedBefore?: number | undefined;
  /** The fence of a session that is open: nothing that it has handed over. */
  readonly exceptFence?: number | undefined;
}

/** What a link that is over has left of its account's queue, up to a sequence. */
export interface AbandonedQueue {
  readonly upTo: number;
  readonly reason: AccountReason;
}

/** The SQL of queued messages: those of an account are its queue. */
export class QueuedMessageTable extends SqlTable {
  /** An account's queued messages after a sequence, in the order of acceptance; none of those that are to fail. */
  async queuedOf(
    accountId: string,
    after: number,
    limit: number,
  ): Promise<readonly QueuePosition[]> {
    const rows: readonly Pick<MessageColumns, 'id' | 'sequence' | 'contact_id' | 'media'>[] =
      await this.db
        .knex('messages')
        .select('id', 'sequence', 'contact_id', 'media')
        .where({ account_id: accountId, status: 'queued' })
        .where('sequence', '>', after)
        .whereRaw(`sequence > ${lastAbandoned}`, [accountId])
        .orderBy('sequence')
        .limit(limit);
    return rows.map(toPosition);
  }

  /**
   * The ids of a bounded number of an account's queued messages to a contact that were accepted before a sequence; none
   * of those that are to fail.
   */
  async idsBefore(
    accountId: string,
    contactId: string,
    sequence: number,
    limit: number,
  ): Promise<readonly string[]> {
    return this.db.knex
      .from(messagesBy(this.db, ['account_id', 'status', 'sequence']))
      .where({ 'm.account_id': accountId, 'm.status': 'queued', 'm.contact_id': contactId })
      .where('m.sequence', '<', sequence)
      .whereRaw(`m.sequence > ${lastAbandoned}`, [accountId])
      .limit(limit)
      .pluck('m.id');
  }

  /**
   * The ids of a bounded number of an account's messages to a contact that wait to be handed over, in the order of
   * acceptance, those that are to fail among them. By the queue, which has no message that was sent: of those a contact
   * may have very many.
   */
  async undispatchedTo(
    accountId: string,
    contactId: string,
    limit: number,
  ): Promise<readonly string[]> {
    return this.db.knex
      .from(messagesBy(this.db, ['account_id', 'status', 'sequence']))
      .where({ 'm.account_id': accountId, 'm.status': 'queued', 'm.contact_id': contactId })
      .whereNull('m.dispatched_at')
      .orderBy('m.sequence')
      .limit(limit)
      .pluck('m.id');
  }

  /** Those of these accounts that have queued messages. */
  async accountsWithQueued(accountIds: readonly string[]): Promise<readonly string[]> {
    if (accountIds.length === 0) return [];
    const rows: readonly { readonly account_id: string }[] = await this.db
      .knex('messages')
      .distinct('account_id')
      .whereIn('account_id', [...accountIds])
      .where('status', 'queued');
    return rows.map((row) => row.account_id);
  }

  /**
   * An account's queued messages in the order of acceptance, locked until the transaction ends. Of a long queue no more
   * than the head is read.
   */
  async queuedForChange(
    accountId: string,
    limit: number,
    { upTo, dispatchedBefore, exceptFence }: QueuePart = {},
  ): Promise<readonly StoredMessage[]> {
    const query = messageRows(this.db, ['account_id', 'status', 'sequence'])
      .where({ account_id: accountId, status: 'queued' })
      .orderBy('sequence')
      .limit(limit);
    if (upTo !== undefined) query.where('sequence', '<=', upTo);
    if (dispatchedBefore !== undefined) {
      query.whereRaw('(dispatched_at is null or dispatched_at < ?)', [dispatchedBefore]);
    }
    if (exceptFence !== undefined) {
      query.whereRaw('(dispatch_fence is null or dispatch_fence <> ?)', [exceptFence]);
    }
    return (await locked(this.db, query)).map(messageFromColumns);
  }

  /**
   * Accounts to sweep: those whose oldest waiting message was accepted before a moment, and those with queued messages
   * that no session will send.
   * A message waits until its dispatch. After its dispatch it waits if its account is away, restricted, or no longer
   * held by the session that dispatched it; in the last two cases the dispatch must lie before that moment.
   */
  async accountsToExpire(acceptedBefore: number, limit: number): Promise<readonly string[]> {
    const { knex } = this.db;
    const queued = () =>
      knex
        .from(messagesBy(this.db, ['account_id', 'status', 'sequence']))
        .whereRaw('m.account_id = a.id')
        .where('m.status', 'queued');
    const open = knex('leases as l')
      .select(knex.raw('1'))
      .join('lease_holders as h', 'h.id', 'l.owner')
      .whereRaw('l.account_id = a.id and l.fence = m.dispatch_fence')
      .where('h.expires_at', '>', acceptedBefore);
    // Sorted, so that of a long queue only its head is read.
    const oldest = queued()
      .select('m.created_at')
      .whereRaw(
        `(m.dispatched_at is null or a.status not in ('connected', 'restricted')
          or (m.dispatched_at < ? and (a.status = 'restricted' or not exists ?)))`,
        [acceptedBefore, open],
      )
      .orderBy('m.sequence')
      .limit(1);
    const rows: readonly { readonly id: string }[] = await knex('accounts as a')
      .select('a.id')
      .whereRaw('? < ?', [oldest, acceptedBefore])
      .orWhereIn('a.id', knex.select('account_id').from('abandoned_queues'))
      .orWhere((over) =>
        over
          .where((ended) => ended.whereNotNull('a.removed_at').orWhere('a.status', 'disconnected'))
          .whereExists(queued().select(knex.raw('1'))),
      )
      .limit(limit);
    return rows.map((row) => row.id);
  }

  /**
   * Queued messages of all accounts, counted by channel, mode and status of the account. `stalledSince` is the dispatch
   * of the queue's first message, else the latest dispatch of a message behind it or shortly before it that has left the
   * queue. It is the acceptance of the first message where that is later, and where that message is tried again.
   */
  async queues(): Promise<readonly QueueCount[]> {
    const index =
      this.db.dialect === 'mysql' ? 'force index (messages_account_id_status_sequence)' : '';
    const queued = `from messages ${index} where account_id = a.id and status = 'queued'`;
    const first = `${queued} order by sequence limit 1`;
    return this.db.rows<QueueCount>(
      `select channel, mode, status, sum(queued) as queued, min(oldest) as oldest,
         min(case when attempts > 1 then oldest when handed is not null then handed
           when others > oldest then others else oldest end) as stalledSince
       from (
         select a.channel, (select mode from tenants where id = a.tenant_id) as mode, a.status,
           (select count(*) ${queued}) as queued,
           (select created_at ${first}) as oldest,
           (select dispatched_at ${first}) as handed,
           (select attempts ${first}) as attempts,
           (select max(dispatched_at) from messages ${index} where account_id = a.id
              and status in ('sent', 'delivered', 'read', 'failed')
              and sequence >= (select sequence ${first}) - ${justBefore}) as others
         from accounts as a where a.removed_at is null and exists (select 1 ${queued})
       ) as queues group by channel, mode, status`,
    );
  }

  /**
   * The queued messages of an account up to now are to fail, whatever link it gets: nobody sends them any more. What an
   * earlier link has left fails for that one's reason.
   */
  async abandon(accountId: string, reason: AccountReason): Promise<void> {
    const [row] = await this.db.rows<{ readonly upTo: number | null }>(
      `select max(sequence) as upTo from messages
       where account_id = ? and status = 'queued' and sequence > ${lastAbandoned}`,
      [accountId, accountId],
    );
    if (row === undefined || row.upTo === null) return;
    await this.db.insert('abandoned_queues', [{ account_id: accountId, up_to: row.upTo, reason }]);
  }

  /** The oldest part of an account's queue that is to fail; undefined: none. */
  async abandoned(accountId: string): Promise<AbandonedQueue | undefined> {
    const rows = await this.db.rows<AbandonedQueue>(
      `select up_to as upTo, reason from abandoned_queues where account_id = ?
       order by up_to limit 1`,
      [accountId],
    );
    return rows[0];
  }

  /** The abandoned queue of an account up to a sequence has failed as a whole. */
  async endAbandoning(accountId: string, upTo: number): Promise<void> {
    await this.db.run('delete from abandoned_queues where account_id = ? and up_to = ?', [
      accountId,
      upTo,
    ]);
  }

  /**
   * Marks every queued message as handed to the network, if it is not marked, and forgets why its last try failed.
   * @returns how many are queued
   */
  async takeForDispatched(at: number): Promise<number> {
    const queued = () => this.db.knex('messages').where('status', 'queued');
    await queued().whereNull('dispatched_at').update({ dispatched_at: at, attempts: 1 });
    await queued().whereNull('failed_at').update({ error: null });
    return (await queued().pluck('id')).length;
  }
}
