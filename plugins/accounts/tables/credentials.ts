import { chunks } from '../../../core/chunks.ts';
import { placeholders, SqlTable } from '../../../core/contracts/sql.ts';

/** One sealed value of an account's credentials. */
export interface SealedCredential {
  readonly accountId: string;
  readonly name: string;
  readonly value: string;
}

/** Sorts behind whatever a name goes on with. */
const lastCharacter = '\u{10ffff}';

/** Names of one statement: SQLite bounds its values. */
const namesAtOnce = 10_000;

/** The SQL of sealed session credentials. */
export class CredentialTable extends SqlTable {
  /** The sealed values of these names; a name that is not stored is left out. */
  async get(accountId: string, names: readonly string[]): Promise<readonly SealedCredential[]> {
    const found = [...chunks(names, namesAtOnce)].map((some) =>
      this.db.rows<{ name: string; value: string }>(
        `select name, value from credentials
         where account_id = ? and name in (${placeholders(some.length)})`,
        [accountId, ...some],
      ),
    );
    return (await Promise.all(found)).flat().map((row) => ({ accountId, ...row }));
  }

  /** The names of an account's values that begin with one of these. */
  async names(accountId: string, prefixes: readonly string[]): Promise<readonly string[]> {
    const found = prefixes.map((prefix) =>
      this.db.rows<{ name: string }>(
        'select name from credentials where account_id = ? and name >= ? and name < ?',
        [accountId, prefix, `${prefix}${lastCharacter}`],
        { recurs: true },
      ),
    );
    return (await Promise.all(found)).flat().map(({ name }) => name);
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

  /** At most `limit` sealed values of all accounts, after a position. */
  async page(
    after: Pick<SealedCredential, 'accountId' | 'name'>,
    limit: number,
  ): Promise<readonly SealedCredential[]> {
    const { accountId, name } = after;
    return await this.db.rows<SealedCredential>(
      `select account_id as accountId, name, value from credentials
       where account_id > ? or (account_id = ? and name > ?) order by account_id, name limit ?`,
      [accountId, accountId, name, limit],
    );
  }

  /** Replaces a value, if the former one is still stored. */
  async replace({ accountId, name, value }: SealedCredential, former: string): Promise<void> {
    await this.db.run(
      'update credentials set value = ? where account_id = ? and name = ? and value = ?',
      [value, accountId, name, former],
      { recurs: true },
    );
  }

  async delete(accountId: string, names: readonly string[]): Promise<void> {
    for (const some of chunks(names, namesAtOnce)) {
      await this.db.run(
        `delete from credentials where account_id = ? and name in (${placeholders(some.length)})`,
        [accountId, ...some],
      );
    }
  }

  /** Deletes everything of these accounts. */
  async clear(accountIds: readonly string[]): Promise<void> {
    if (accountIds.length === 0) return;
    await this.db.knex('credentials').whereIn('account_id', accountIds).delete();
  }
}
