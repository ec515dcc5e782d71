import type { Sql } from '../../../core/contracts/sql.ts';

/**
 * One row of `processes`: a process that was heard of lately. Each beats every second; one not heard of for
 * eight is dead, one that is missing too.
 */
export interface ProcessRow {
  /** The broker's `processId`. */
  readonly id: string;
  /** What the process is called in every life of it. */
  readonly name: string;
  readonly roles: readonly string[];
  /** Sessions it holds, and how many it can hold. */
  readonly sessions: number;
  readonly capacity: number;
  /** Its last heartbeat, by the database's clock. */
  readonly seenAt: number;
}

/** The SQL of running processes. */
export class ProcessTable {
  protected readonly db: Sql;

  constructor(db: Sql) {
    this.db = db;
  }

  /** Stores heartbeats. */
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
      })),
      { key: ['id'], set: ['name', 'roles', 'sessions', 'capacity', 'seen_at'] },
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
