import type { Knex } from 'knex';
import { placeholders, SqlTable } from '../../../core/contracts/sql.ts';
import { ownsNumber } from '../account-state.ts';
import type { AccountState, ConnectOptions } from '../contract.ts';
import { type AccountRow, accountRow, type StoredAccount, stateColumns } from './account-rows.ts';

/** Initial values of an account; the rest of its row starts empty. */
export interface NewAccount {
  readonly id: string;
  readonly tenantId: string;
  readonly channel: string;
  readonly identifier: string;
  readonly connectOptions: ConnectOptions;
  readonly state: AccountState;
  readonly createdAt: number;
}

/** Where an account connects through. */
export interface SealedProxy {
  readonly id: string;
  readonly proxy: string;
}

/** What an open session acts upon when somebody else has changed it. */
export type FollowedAccount = Pick<AccountRow, 'id' | 'restriction' | 'proxy'>;

/** A number that an account wants for itself while it is linked. */
export interface NumberClaim {
  readonly id: string;
  readonly key: string;
}

/** The SQL of accounts. Rows come with the mode of their tenant. */
export class AccountTable extends SqlTable {
  /** The rows with these ids, removed ones included, in no particular order. */
  async find(ids: readonly string[]): Promise<readonly AccountRow[]> {
    if (ids.length === 0) return [];
    const rows = await this.db.rows<StoredAccount>(
      `select a.*, t.mode as mode from accounts a join tenants t on t.id = a.tenant_id
       where a.id in (${placeholders(ids.length)})`,
      ids,
    );
    return rows.map(accountRow);
  }

  /** What sessions follow of these records, in no particular order; those with neither restriction nor proxy are left out. */
  async followed(ids: readonly string[]): Promise<readonly FollowedAccount[]> {
    if (ids.length === 0) return [];
    return this.db.rows<FollowedAccount>(
      `select id, restriction, proxy from accounts where id in (${placeholders(ids.length)})
         and (restriction is not null or proxy is not null)`,
      ids,
    );
  }

  /** Every account of these tenants that was not removed, oldest first. */
  async ofTenants(tenantIds: readonly string[]): Promise<readonly AccountRow[]> {
    if (tenantIds.length === 0) return [];
    return this.#read(
      this.#select()
        .whereIn('a.tenant_id', tenantIds)
        .whereNull('a.removed_at')
        .orderBy(['a.created_at', 'a.id']),
    );
  }

  /** The record of a number that was not removed. */
  async present(
    tenantId: string,
    channel: string,
    identifier: string,
  ): Promise<AccountRow | undefined> {
    const rows = await this.#read(
      this.#select().where('a.present_key', presentKey(tenantId, channel, identifier)),
    );
    return rows[0];
  }

  /** The accounts that have these claims, by claim. */
  async claimants(keys: readonly string[]): Promise<ReadonlyMap<string, string>> {
    if (keys.length === 0) return new Map();
    const rows: { id: string; claim_key: string }[] = await this.db
      .knex('accounts')
      .select('id', 'claim_key')
      .whereIn('claim_key', keys);
    return new Map(rows.map((row) => [row.claim_key, row.id]));
  }

  async insert(accounts: readonly NewAccount[]): Promise<void> {
    await this.db.insert(
      'accounts',
      accounts.map((account) => ({
        id: account.id,
        tenant_id: account.tenantId,
        channel: account.channel,
        identifier: account.identifier,
        present_key: presentKey(account.tenantId, account.channel, account.identifier),
        connect_options: JSON.stringify(account.connectOptions),
        created_at: account.createdAt,
        status_since: account.createdAt,
        ...stateColumns(account.state),
      })),
    );
  }

  /** Writes the outcome of status transitions, and frees the numbers of accounts that own theirs no more. */
  async save(rows: readonly AccountRow[]): Promise<void> {
    await this.db.updateEach(
      'accounts',
      'id',
      rows.map((row) => ({
        id: row.id,
        status_since: row.since,
        connect_options: JSON.stringify(row.connectOptions),
        ramp_day_one: row.rampDayOne,
        connected_at: row.connectedAt,
        ...stateColumns(row),
      })),
    );
    const freed = rows.filter((row) => !ownsNumber(row)).map((row) => row.id);
    if (freed.length > 0) {
      await this.db.knex('accounts').whereIn('id', freed).update({ claim_key: null });
    }
  }

  /**
   * Claims numbers, each for the first account: the unique index decides, also between transactions.
   * @returns the ids of the accounts that have their claim now
   */
  async claim(claims: readonly NumberClaim[]): Promise<ReadonlySet<string>> {
    const ignore = this.db.dialect === 'mysql' ? 'ignore' : 'or ignore';
    const sorted = [...claims].sort((one, other) => (one.key < other.key ? -1 : 1));
    for (const { id, key } of sorted) {
      await this.db.run(`update ${ignore} accounts set claim_key = ? where id = ?`, [key, id]);
    }
    const holders = await this.claimants(claims.map((claim) => claim.key));
    return new Set(claims.filter(({ id, key }) => holders.get(key) === id).map(({ id }) => id));
  }

  /** Marks accounts as removed and frees their numbers. */
  async remove(ids: readonly string[], at: number): Promise<void> {
    if (ids.length === 0) return;
    await this.db
      .knex('accounts')
      .whereIn('id', ids)
      .update({ removed_at: at, present_key: null, claim_key: null, proxy: null });
  }

  /** Deletes the rows of a connect that is undone. Nothing refers to them yet. */
  async erase(ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return;
    await this.db.knex('accounts').whereIn('id', ids).delete();
  }

  /** Changes where accounts connect through, sealed; null: directly. */
  async setProxy(id: string, proxy: string | null): Promise<void> {
    await this.db.knex('accounts').where({ id }).update({ proxy });
  }

  /** Sealed proxies behind a position, in order. */
  async proxies(after: string, limit: number): Promise<readonly SealedProxy[]> {
    return this.db
      .knex('accounts')
      .select('id', 'proxy')
      .where('id', '>', after)
      .whereNotNull('proxy')
      .orderBy('id')
      .limit(limit);
  }

  /** Replaces a sealed proxy that is still as it was read. */
  async replaceProxy({ id, proxy }: SealedProxy, from: string): Promise<void> {
    await this.db.knex('accounts').where({ id, proxy: from }).update({ proxy });
  }

  /** Stores the sequence number of each account's latest outbound message. */
  async advance(sequences: ReadonlyMap<string, number>): Promise<void> {
    await this.db.updateEach(
      'accounts',
      'id',
      [...sequences].map(([id, outbound_sequence]) => ({ id, outbound_sequence })),
    );
  }

  #select(): Knex.QueryBuilder {
    return this.db
      .knex('accounts as a')
      .join('tenants as t', 't.id', 'a.tenant_id')
      .select('a.*', 't.mode as mode');
  }

  async #read(query: Knex.QueryBuilder): Promise<readonly AccountRow[]> {
    const rows: StoredAccount[] = await query;
    return rows.map(accountRow);
  }
}

function presentKey(tenantId: string, channel: string, identifier: string): string {
  return `${tenantId}|${channel}|${identifier}`;
}
