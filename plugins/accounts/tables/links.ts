import { SqlTable } from '../../../core/contracts/sql.ts';

/** A link for the owner of an account's phone. */
export interface OwnerLinkRow {
  readonly accountId: string;
  /** How often the linking was started again with it. */
  readonly restarts: number;
  /** Milliseconds since the Unix epoch, by the database's clock. */
  readonly expiresAt: number;
}

interface StoredLink {
  readonly account_id: string;
  readonly restarts: number;
  readonly expires_at: number;
}

/** The SQL of owners' links: at most one of each account, whose lease the writer has locked. */
export class LinkTable extends SqlTable {
  /** The link with this hash, ended or not. */
  async find(tokenHash: string): Promise<OwnerLinkRow | undefined> {
    const row: StoredLink | undefined = await this.db
      .knex('links')
      .where({ token_hash: tokenHash })
      .first('account_id', 'restarts', 'expires_at');
    if (row === undefined) return undefined;
    const { account_id: accountId, restarts, expires_at: expiresAt } = row;
    return { accountId, restarts, expiresAt };
  }

  /** Gives an account its link, in place of an earlier one. */
  async put(accountId: string, tokenHash: string, expiresAt: number): Promise<void> {
    await this.end([accountId]);
    await this.db.insert('links', [
      { account_id: accountId, token_hash: tokenHash, restarts: 0, expires_at: expiresAt },
    ]);
  }

  /** Counts one more start of the linking. */
  async countRestart(accountId: string): Promise<void> {
    await this.db.knex('links').where({ account_id: accountId }).increment('restarts', 1);
  }

  /** Takes back a start that was counted, unless the link was made anew since. */
  async uncountRestart(accountId: string): Promise<void> {
    const started = this.db
      .knex('links')
      .where({ account_id: accountId })
      .where('restarts', '>', 0);
    await started.decrement('restarts', 1);
  }

  /** Ends the links of these accounts. */
  async end(accountIds: readonly string[]): Promise<void> {
    if (accountIds.length === 0) return;
    await this.db.knex('links').whereIn('account_id', accountIds).delete();
  }
}
