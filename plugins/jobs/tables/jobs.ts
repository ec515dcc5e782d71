import { type Sql, SqlTable } from '../../../core/contracts/sql.ts';
import type { LeasedTable, LeaseRows } from '../../cluster/contract.ts';

/** Leases of jobs. */
export const jobLeases: LeasedTable = { table: 'jobs', key: 'name', due: 'due_at' };

/** A job as it is stored. */
export interface JobRow {
  readonly name: string;
  /** When it was there for the first time. */
  readonly createdAt: number;
  readonly dueAt: number;
  readonly owner: string | null;
}

interface JobColumns {
  readonly name: string;
  readonly created_at: number;
  readonly due_at: number;
  readonly owner: string | null;
}

/** The SQL of jobs. */
export class JobTable extends SqlTable {
  readonly leases: LeaseRows;

  constructor(db: Sql, leases: LeaseRows) {
    super(db);
    this.leases = leases;
  }

  async find(names: readonly string[]): Promise<readonly JobRow[]> {
    const rows: JobColumns[] = await this.db
      .knex('jobs')
      .select('name', 'created_at', 'due_at', 'owner')
      .whereIn('name', [...names]);
    return rows.map(({ name, owner, ...row }) => ({
      ...{ name, owner },
      createdAt: row.created_at,
      dueAt: row.due_at,
    }));
  }

  /** Makes the jobs that are not there. */
  async ensure(names: readonly string[], now: number): Promise<void> {
    await this.db.insertIgnore(
      'jobs',
      names.map((name) => ({ name, created_at: now })),
    );
  }
}
