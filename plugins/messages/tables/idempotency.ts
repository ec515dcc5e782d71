import type { Json } from '../../../core/contracts/json.ts';
import { SqlTable } from '../../../core/contracts/sql.ts';

/** The Idempotency-Key of a tenant. */
export interface IdempotencyKey {
  readonly tenantId: string;
  /** SHA-256 of the key, hex. */
  readonly keyHash: string;
}

/** One answer kept for its Idempotency-Key. */
export interface IdempotencyRecord extends IdempotencyKey {
  /** SHA-256 of the canonical body, hex. */
  readonly bodyHash: string;
  readonly answer: Json;
  readonly createdAt: number;
}

interface KeyColumns {
  readonly tenant_id: string;
  readonly key_hash: string;
  readonly body_hash: string;
  readonly answer: string;
  readonly created_at: number;
}

/** The SQL of idempotency keys. */
export class IdempotencyTable extends SqlTable {
  /** The answers kept under these keys. */
  async find(keys: readonly IdempotencyKey[]): Promise<readonly IdempotencyRecord[]> {
    if (keys.length === 0) return [];
    const rows: readonly KeyColumns[] = await this.#having(keys);
    return rows.map((row) => ({
      tenantId: row.tenant_id,
      keyHash: row.key_hash,
      bodyHash: row.body_hash,
      // Written by `keep` below and by nobody else.
      answer: JSON.parse(row.answer) as Json,
      createdAt: row.created_at,
    }));
  }

  /** Keeps answers, over what an expired key held. */
  async keep(records: readonly IdempotencyRecord[]): Promise<void> {
    await this.db.upsert(
      'idempotency_keys',
      records.map((record) => ({
        tenant_id: record.tenantId,
        key_hash: record.keyHash,
        body_hash: record.bodyHash,
        answer: JSON.stringify(record.answer),
        created_at: record.createdAt,
      })),
      { key: ['tenant_id', 'key_hash'], set: ['body_hash', 'answer', 'created_at'] },
    );
  }

  /** Deletes a bounded number of answers that were kept before a moment; answers how many. */
  async deleteBefore(moment: number, limit: number): Promise<number> {
    const { knex } = this.db;
    const old: readonly Pick<KeyColumns, 'tenant_id' | 'key_hash'>[] = await knex(
      'idempotency_keys',
    )
      .select('tenant_id', 'key_hash')
      .where('created_at', '<', moment)
      .limit(limit);
    if (old.length === 0) return 0;
    const keys = old.map((row) => ({ tenantId: row.tenant_id, keyHash: row.key_hash }));
    return this.#having(keys).where('created_at', '<', moment).delete();
  }

  /** Rows of these keys, each compared as a pair: SQLite would try every hash with every tenant. */
  #having(keys: readonly IdempotencyKey[]) {
    const { knex, dialect } = this.db;
    const list = keys.map(() => '(?, ?)').join(', ');
    const whole = dialect === 'sqlite' ? `values ${list}` : list;
    return knex('idempotency_keys').whereRaw(
      `(tenant_id, key_hash) in (${whole})`,
      keys.flatMap(({ tenantId, keyHash }) => [tenantId, keyHash]),
    );
  }
}
