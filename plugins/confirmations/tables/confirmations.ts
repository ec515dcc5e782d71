import type { Sql } from '../../../core/contracts/sql.ts';

/** A person's answer that a call has come with. */
export interface UsedConfirmation {
  /** Of the question that was answered. */
  readonly nonce: string;
  readonly callId: string;
  readonly usedAt: number;
}

/** The SQL of the answers of persons: each counts for the first call that comes with it. */
export class ConfirmationTable {
  protected readonly db: Sql;

  constructor(db: Sql) {
    this.db = db;
  }

  /** Uses answers for calls; one that is used already stays with its call. */
  async use(used: readonly UsedConfirmation[]): Promise<void> {
    // In one order, so that two processes never wait for each other.
    const inOrder = [...used].sort((one, other) => (one.nonce < other.nonce ? -1 : 1));
    await this.db.insertIgnore(
      'confirmations',
      inOrder.map(({ nonce, callId, usedAt }) => ({ nonce, call_id: callId, used_at: usedAt })),
    );
  }

  /** The calls that these answers were used for, by nonce. */
  async calls(nonces: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const rows: readonly { readonly nonce: string; readonly call_id: string }[] = await this.db
      .knex('confirmations')
      .select('nonce', 'call_id')
      .whereIn('nonce', [...nonces]);
    return new Map(rows.map((row) => [row.nonce, row.call_id]));
  }

  /** Deletes a bounded number of those that were used before a moment; answers how many. */
  async deleteBefore(moment: number, limit: number): Promise<number> {
    const old: readonly { readonly nonce: string }[] = await this.db
      .knex('confirmations')
      .select('nonce')
      .where('used_at', '<', moment)
      .limit(limit);
    if (old.length === 0) return 0;
    const nonces = old.map(({ nonce }) => nonce);
    return this.db.knex('confirmations').whereIn('nonce', nonces).delete();
  }
}
