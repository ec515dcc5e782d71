import { placeholders, SqlTable } from '../../../core/contracts/sql.ts';
import { deadAfterMs } from '../../../core/heartbeat.ts';
import type { ClusterProcess } from '../contract.ts';

/** The SQL of running processes. */
export class ProcessTable extends SqlTable {
  /** Stores heartbeats. */
  async beat(processes: readonly ClusterProcess[]): Promise<void> {
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

  /** The processes that are alive at a moment of the database's clock, in no particular order. */
  async living(now: number): Promise<readonly ClusterProcess[]> {
    const rows: StoredProcess[] = await this.db
      .knex('processes')
      .where('seen_at', '>', now - deadAfterMs);
    return rows.map(processOf);
  }

  /** Every process that there is a row of, dead ones among them. */
  async all(): Promise<readonly ClusterProcess[]> {
    const rows: StoredProcess[] = await this.db.knex('processes');
    return rows.map(processOf);
  }

  /** The processes of a name, dead ones among them. */
  async named(name: string): Promise<readonly ClusterProcess[]> {
    const rows: StoredProcess[] = await this.db.knex('processes').where({ name });
    return rows.map(processOf);
  }

  /** Deletes processes that have stopped. */
  async remove(ids: readonly string[]): Promise<void> {
    if (ids.length > 0) await this.db.knex('processes').whereIn('id', ids).delete();
  }

  /**
   * Deletes processes whose last heartbeat is before `since`, and dates back to `now` those ahead of it: the clock was set
   * back, and a living one soon beats again. They are read without a lock: a search with one would wait for the row of
   * every process that is just beating. A row that another heartbeat has locked is skipped: two that waited for each
   * other's row, each with its own, would deadlock.
   */
  async settle(since: number, now: number): Promise<void> {
    const ahead = now + deadAfterMs;
    const ids: string[] = await this.db
      .knex('processes')
      .where('seen_at', '<', since)
      .orWhere('seen_at', '>', ahead)
      .pluck('id');
    if (ids.length === 0) return;
    const free = await this.db.rows<Pick<StoredProcess, 'id' | 'seen_at'>>(
      `select id, seen_at from processes where id in (${placeholders(ids.length)})
       order by id ${this.db.lockingFree}`,
      ids,
    );
    // One by one: a search for several may also lock the rows of others.
    for (const { id, seen_at } of free) {
      const found = this.db.knex('processes').where({ id });
      if (seen_at < since) await found.delete();
      else if (seen_at > ahead) await found.update({ seen_at: now });
    }
  }
}

function processOf(row: StoredProcess): ClusterProcess {
  return {
    id: row.id,
    name: row.name,
    roles: row.roles === '' ? [] : row.roles.split(','),
    sessions: row.sessions,
    capacity: row.capacity,
    seenAt: row.seen_at,
  };
}

interface StoredProcess {
  readonly id: string;
  readonly name: string;
  readonly roles: string;
  readonly sessions: number;
  readonly capacity: number;
  readonly seen_at: number;
}
