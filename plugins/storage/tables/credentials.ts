import type { SealedCredential } from '../../accounts/contract.ts';
import type { Executor } from '../executor.ts';

/** The SQL of sealed session credentials. */
export class CredentialTable {
  protected readonly db: Executor;

  constructor(db: Executor) {
    this.db = db;
  }

  /** The sealed values of these names; those that are not there are missing. */
  async get(accountId: string, names: readonly string[]): Promise<readonly SealedCredential[]> {
    if (names.length === 0) return [];
    const rows: { name: string; value: string }[] = await this.db
      .knex('credentials')
      .select('name', 'value')
      .where('account_id', accountId)
      .whereIn('name', names);
    return rows.map((row) => ({ accountId, name: row.name, value: row.value }));
  }

  /** Writes sealed values, new or not. */
  async put(credentials: readonly SealedCredential[]): Promise<void> {
    await this.db.upsert(
      'credentials',
      credentials.map((credential) => ({
        account_id: credential.accountId,
        name: credential.name,
        value: credential.value,
      })),
      { key: ['account_id', 'name'], set: ['value'] },
    );
  }

  async delete(accountId: string, names: readonly string[]): Promise<void> {
    if (names.length === 0) return;
    await this.db
      .knex('credentials')
      .where('account_id', accountId)
      .whereIn('name', names)
      .delete();
  }

  /** Deletes everything of these accounts. */
  async clear(accountIds: readonly string[]): Promise<void> {
    if (accountIds.length === 0) return;
    await this.db.knex('credentials').whereIn('account_id', accountIds).delete();
  }
}
