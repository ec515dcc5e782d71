import type { ProcessRow } from '../../accounts/contract.ts';
import type { Executor } from '../executor.ts';
import { migrationSteps, revisionSteps } from '../migrations/steps.ts';

/** In SQL: whether a process may be at work that counts no changes of contacts. */
export const olderAtWork = `exists (select 1 from processes p where p.schema_steps < ${revisionSteps})`;

/** The SQL of running processes. */
export class ProcessTable {
  protected readonly db: Executor;

  constructor(db: Executor) {
    this.db = db;
  }

  /** Stores heartbeats, of processes of this version. */
  async beat(processes: readonly ProcessRow[]): Promise<void> {
    await this.db.upsert(
      'processes',
      processes.map((process) => ({
        id: process.id,
        name: process.name,
        roles: process.roles.join(','),
        sessions: process.sessions,
        capacity: process.capacity,
        seen_at: process.seenAt,
        schema_steps: migrationSteps.length,
      })),
      { key: ['id'], set: ['name', 'roles', 'sessions', 'capacity', 'seen_at', 'schema_steps'] },
    );
  }

  /** The processes heard of after a moment, in no particular order. */
  async seenAfter(moment: number): Promise<readonly ProcessRow[]> {
    const rows: StoredProcess[] = await this.db.knex('processes').where('seen_at', '>', moment);
    return rows.map(processOf);
  }

  /** The processes of a name, dead ones among them. */
  async named(name: string): Promise<readonly ProcessRow[]> {
    const rows: StoredProcess[] = await this.db.knex('processes').where({ name });
    return rows.map(processOf);
  }

  /** Whether a process may be at work that counts no changes of contacts. */
  async hasOlder(): Promise<boolean> {
    const [row] = await this.db.rows<{ older: number }>(`select ${olderAtWork} as older`);
    return row?.older === 1;
  }

  /** Forgets processes that have stopped. */
  async remove(ids: readonly string[]): Promise<void> {
    if (ids.length > 0) await this.db.knex('processes').whereIn('id', ids).delete();
  }

  /**
   * Forgets processes that were last heard of before a moment. They are looked up without a lock: a delete that
   * searches by itself would wait for the row of every process that is just beating.
   */
  async removeUnseenSince(moment: number): Promise<void> {
    const ids: string[] = await this.db.knex('processes').where('seen_at', '<', moment).pluck('id');
    if (ids.length === 0) return;
    await this.db.knex('processes').whereIn('id', ids).where('seen_at', '<', moment).delete();
  }
}

function processOf(row: StoredProcess): ProcessRow {
  return {
    id: row.id,
    name: row.name,
    roles: row.roles === '' ? [] : row.roles.split(','),
    sessions: row.sessions,
    capacity: row.capacity,
    seenAt: Number(row.seen_at),
  };
}

interface StoredProcess {
  readonly id: string;
  readonly name: string;
  readonly roles: string;
  readonly sessions: number;
  readonly capacity: number;
  readonly seen_at: number | string;
}
