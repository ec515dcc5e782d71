import { randomUUID } from 'node:crypto';
import { type Table, text, words } from '../../../core/contracts/schema.ts';
import { SqlTable } from '../../../core/contracts/sql.ts';

/** Single values that concern the database as a whole. */
export const markSchema: Table = {
  name: 'marks',
  columns: { name: words(60), value: text },
  primary: ['name'],
};

/** The only permanent row. */
const canary = 'canary';

/** The SQL of single values that concern the database as a whole. */
export class MarkTable extends SqlTable {
  /** Writes a row of so many characters and deletes it. */
  async probe(length: number): Promise<void> {
    const name = `probe ${randomUUID()}`;
    await this.db.insert('marks', [{ name, value: ' '.repeat(length) }]);
    await this.db.run('delete from marks where name = ?', [name], { recurs: true });
  }

  /** The value that says by which secret the database is sealed; null before the first start. */
  async canary(): Promise<string | null> {
    const [row] = await this.db.rows<{ value: string }>('select value from marks where name = ?', [
      canary,
    ]);
    return row?.value ?? null;
  }

  /** Stores the value unless there is one. */
  async addCanary(value: string): Promise<void> {
    await this.db.insertIgnore('marks', [{ name: canary, value }]);
  }

  /** Replaces the value. */
  async setCanary(value: string): Promise<void> {
    await this.db.upsert('marks', [{ name: canary, value }], { key: ['name'], set: ['value'] });
  }
}
