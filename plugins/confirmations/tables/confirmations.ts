import { deleteSome, SqlTable } from '../../../core/contracts/sql.ts';

/** A person's answer that a call has come with. */
export interface UsedConfirmation {
  /** Of the question that was answered. */
  readonly nonce: string;
  readonly answer: string;
  readonly usedAt: number;
}

/** The SQL of the answers of persons: the first to a question counts. */
export class ConfirmationTable extends SqlTable {
  /** Uses answers; a question that was answered already keeps its answer. */
  async use(used: readonly UsedConfirmation[]): Promise<void> {
    // In one order, so that two processes never wait for each other.
    const inOrder = [...used].sort((one, other) => (one.nonce < other.nonce ? -1 : 1));
    await this.db.insertIgnore(
      'confirmations',
      inOrder.map(({ nonce, answer, usedAt }) => ({ nonce, answer, used_at: usedAt })),
    );
  }

  /** The answers to these questions, by nonce. */
  async answers(nonces: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const rows: readonly { readonly nonce: string; readonly answer: string }[] = await this.db
      .knex('confirmations')
      .select('nonce', 'answer')
      .whereIn('nonce', [...nonces]);
    return new Map(rows.map((row) => [row.nonce, row.answer]));
  }

  /** Deletes a bounded number of those that were used before a moment; answers how many. */
  deleteBefore(moment: number, limit: number): Promise<number> {
    return deleteSome(this.db, { table: 'confirmations', key: 'nonce', limit }, (rows) =>
      rows.where('used_at', '<', moment),
    );
  }
}
